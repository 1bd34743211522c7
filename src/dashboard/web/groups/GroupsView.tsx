/** Rollouts of one problem beside one another. */
import { Empty } from '../components/bits.js';
import type { RunViewProps } from '../run/RunPage.js';

export default function GroupsView({ run }: RunViewProps) {
  return <Empty title={run.name} />;
}
