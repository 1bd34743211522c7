/** Data reports of the folder. */
import { Empty } from '../components/bits.js';

export default function ReportsView({ rest }: { rest: readonly string[] }) {
  return <Empty title={`Data reports ${rest.join('/')}`} />;
}
