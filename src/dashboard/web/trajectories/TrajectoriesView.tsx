/** The rollouts of a run: the list, or the one that the address names. */
import { Empty } from '../components/bits.js';
import { useRoute } from '../navigation.js';
import type { RunViewProps } from '../run/RunPage.js';
import { filterOf, listHref } from './links.js';
import { RolloutList } from './RolloutList.js';
import { RolloutPage } from './RolloutPage.js';

export default function TrajectoriesView({ run, rest }: RunViewProps) {
  const { query } = useRoute();
  const [id] = rest;
  if (id === undefined) return <RolloutList detail={run} />;
  if (/^\d{1,15}$/.test(id)) return <RolloutPage run={run.id} id={Number(id)} />;
  return (
    <Empty title="A rollout is named by a number.">
      <a href={listHref(run.id, filterOf(query))}>Go to the list</a>
    </Empty>
  );
}
