/** The problems of a run: the list, or the one that the address names. */
import type { RunViewProps } from '../run/RunPage.js';
import { ProblemList } from './ProblemList.js';
import { ProblemPage } from './ProblemPage.js';

export default function ProblemsView({ run, rest }: RunViewProps) {
  return rest.length === 0 ? <ProblemList detail={run} /> : <ProblemPage key={rest.join('/')} run={run.id} problemId={rest.join('/')} />;
}
