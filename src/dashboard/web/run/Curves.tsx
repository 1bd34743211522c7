/** The curves of one run. */
import { useMemo } from 'preact/hooks';
import { CurvesView } from './CurvesView.js';
import type { RunViewProps } from './RunPage.js';

export default function Curves({ run }: RunViewProps) {
  const runs = useMemo(() => [run], [run]);
  return <CurvesView runs={runs} />;
}
