/** Problems of a run. */
import { Empty } from '../components/bits.js';
import type { RunViewProps } from '../run/RunPage.js';

export default function ProblemsView({ run }: RunViewProps) {
  return <Empty title={run.name} />;
}
