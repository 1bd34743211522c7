/** Placeholder. */
import { Empty } from '../components/bits.js';
import type { RunViewProps } from './RunPage.js';

export default function Overview({ run }: RunViewProps) {
  return <Empty title={run.name} />;
}
