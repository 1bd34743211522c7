/** Several runs on the same charts. */
import { Empty } from '../components/bits.js';

export default function ComparePage({ runs }: { runs: readonly string[] }) {
  return <Empty title={`Curves of ${runs.length} runs`} />;
}
