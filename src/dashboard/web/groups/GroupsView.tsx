/** The groups of a run: the list, or the one that the address names. */
import type { RunViewProps } from '../run/RunPage.js';
import { GroupList } from './GroupList.js';
import { GroupPage } from './GroupPage.js';

export default function GroupsView({ run, rest }: RunViewProps) {
  return rest.length === 0 ? <GroupList detail={run} /> : <GroupPage key={rest.join('/')} run={run.id} groupId={rest.join('/')} />;
}
