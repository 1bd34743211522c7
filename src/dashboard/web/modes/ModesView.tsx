/** Deliberative and reactive rollouts. */
import { Empty } from '../components/bits.js';
import type { RunViewProps } from '../run/RunPage.js';

export default function ModesView({ run }: RunViewProps) {
  return <Empty title={run.name} />;
}
