/** Which runs are shown and in which order: search, state, sort, folders. Pure. */
import type { Num, RunState, RunSummary } from '../../api.js';
import { mainStage } from '../run/progress.js';

export type RunSort = 'updated' | 'name' | 'state' | 'recipe' | 'accuracy' | 'reward' | 'evaluation';

export interface RunFilter {
  /** Words; all must occur in what the line says of the run. */
  readonly text: string;
  readonly state?: RunState | undefined;
}

export function filterRuns(runs: readonly RunSummary[], { text, state }: RunFilter): readonly RunSummary[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    if (state !== undefined && run.state !== state) return false;
    if (words.length === 0) return true;
    const all = [run.id, run.name, run.recipe, run.model, run.state, run.seed === undefined ? '' : `seed ${run.seed}`, run.note]
      .join(' ')
      .toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** The number of a run that tells whether it learns: accuracy of its rollouts, else reward, else loss. */
export function headline({ last }: Pick<RunSummary, 'last'>): { readonly metric: string; readonly value: number } | undefined {
  for (const metric of ['rollout/accuracy', 'reward/total', 'train/loss']) {
    const value = last[metric];
    if (typeof value === 'number') return { metric, value };
  }
  return undefined;
}

/** The accuracy that is told first: of the evaluation `main`, of the newest step; else of the newest that has one. */
export function newestAccuracy({ evaluations }: Pick<RunSummary, 'evaluations'>) {
  const graded = evaluations.filter(({ metrics }) => typeof metrics.accuracy === 'number');
  return graded.find(({ name }) => name === 'main') ?? graded.at(-1);
}

const STATE_ORDER: readonly RunState[] = ['running', 'interrupted', 'ended', 'unreadable'];

/** What has no value comes last either way. */
export function sortRuns(runs: readonly RunSummary[], by: RunSort, descending: boolean): readonly RunSummary[] {
  const value = (run: RunSummary): string | number | undefined => {
    switch (by) {
      case 'updated':
        return Date.parse(run.updatedAt) || undefined;
      case 'name':
        return run.id.toLowerCase();
      case 'state':
        return STATE_ORDER.indexOf(run.state);
      case 'recipe':
        return run.recipe === undefined ? undefined : `${run.recipe} ${run.model} ${run.seed}`.toLowerCase();
      case 'accuracy':
        return known(run.last['rollout/accuracy']);
      case 'reward':
        return known(run.last['reward/total']);
      case 'evaluation':
        return known(newestAccuracy(run)?.metrics.accuracy);
    }
  };
  const sign = descending ? -1 : 1;
  return runs
    .map((run) => ({ run, value: value(run) }))
    .sort((a, b) => {
      if (a.value === undefined || b.value === undefined) return Number(a.value === undefined) - Number(b.value === undefined);
      if (a.value === b.value) return a.run.id < b.run.id ? -1 : 1;
      const order = typeof a.value === 'string' && typeof b.value === 'string' ? natural(a.value, b.value) : a.value < b.value ? -1 : 1;
      return sign * order;
    })
    .map(({ run }) => run);
}

const known = (value: Num | undefined): number | undefined => value ?? undefined;

const collator = new Intl.Collator('en', { numeric: true });
const natural = (a: string, b: string): number => collator.compare(a, b);

export type RunRow =
  | { readonly kind: 'folder'; readonly folder: string; readonly count: number }
  | { readonly kind: 'run'; readonly run: RunSummary };

export const folderOf = ({ id }: Pick<RunSummary, 'id'>): string => (id.includes('/') ? id.slice(0, id.lastIndexOf('/')) : '');

/** Runs below a heading each folder, folders in the order of their first run; runs of the folder itself come without one. */
export function rowsOf(runs: readonly RunSummary[], grouped: boolean): readonly RunRow[] {
  if (!grouped) return runs.map((run) => ({ kind: 'run', run }));
  const folders = new Map<string, RunSummary[]>();
  for (const run of runs) {
    const folder = folderOf(run);
    folders.set(folder, [...(folders.get(folder) ?? []), run]);
  }
  return [...folders].flatMap(([folder, members]): RunRow[] => [
    ...(folder === '' ? [] : [{ kind: 'folder' as const, folder, count: members.length }]),
    ...members.map((run): RunRow => ({ kind: 'run', run })),
  ]);
}

/** The stage whose curve the list shows. */
export const curveStage = (run: RunSummary) => mainStage(run)?.stage;
