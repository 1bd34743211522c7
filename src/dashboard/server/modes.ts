/** Deliberative and reactive rollouts over a run (paper, section 5); what they are is defined in `domain/mode.ts`. */
import type { ModeFigures, ModesView } from '../api.js';
import type { RunView } from './runView.js';

interface Row extends ModeFigures {
  readonly stage: ModesView['rows'][number]['stage'];
  readonly step: number;
  readonly split: string;
}

export async function viewModes(view: RunView): Promise<ModesView> {
  const { from, fact } = view.source();
  const remaining = await view.readThrough(5_000);
  const rows = view.db
    .prepare(
      `SELECT stage, step, split, ${fact('mode')} AS mode, count(*) AS rollouts, coalesce(sum(correct), 0) AS "right",
       sum(${fact('toolSuccesses')}) * 1.0 / sum(calls) AS toolSuccess, sum(calls) * 1.0 / count(*) AS callsPerRollout,
       sum(modelTokens) * 1.0 / sum(turns) AS tokensPerTurn
       FROM ${from} WHERE ${fact('mode')} IS NOT NULL GROUP BY stage, split, step, 4 ORDER BY min(t.id)`,
    )
    .all() as Row[];
  const moments = new Map<string, { stage: Row['stage']; step: number; split: string; modes: ModeFigures[] }>();
  for (const { stage, step, split, ...figures } of rows) {
    const key = JSON.stringify([stage, step, split]);
    const moment = moments.get(key) ?? { stage, step, split, modes: [] };
    moments.set(key, moment);
    moment.modes.push(figures);
  }
  return {
    rows: [...moments.values()],
    ...(remaining > 0 && { note: `An older run is being read through: ${remaining} rollouts are still to come. Ask again for more.` }),
  };
}
