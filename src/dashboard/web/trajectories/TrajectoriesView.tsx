/** Trajectories of a run. */
import { Empty } from '../components/bits.js';
import type { RunViewProps } from '../run/RunPage.js';

export default function TrajectoriesView({ run }: RunViewProps) {
  return <Empty title={run.name} />;
}
