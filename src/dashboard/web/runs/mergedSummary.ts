/** A line of the list after a live event. Pure. */
import type { LiveEvent, RunSummary } from '../../api.js';

/** What one event changes in the line of its run. */
export function mergedSummary(run: RunSummary, event: LiveEvent, now: string): RunSummary {
  if (event.kind === 'steps') {
    const stages = run.stages.map((stage) => (stage.stage === event.stage ? { ...stage, done: event.step + 1 } : stage));
    return { ...run, stages, last: event.metrics, updatedAt: now };
  }
  if (event.kind === 'evaluation') {
    const { evaluation } = event;
    return { ...run, evaluations: [...run.evaluations.filter(({ name }) => name !== evaluation.name), evaluation], updatedAt: now };
  }
  return run;
}
