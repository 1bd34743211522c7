/** Which rollouts of one problem are nearly the same. Compares forms, not meanings; knows no files. */
import type { Trajectory } from '../../domain/trajectory.js';
import { bareProgram } from './bareProgram.js';
import { proseOf } from './behaviours.js';

/** Runs of so many words are compared. */
const RUN = 3;
/** Share of runs that two have in common, of all that either has, from which on they are nearly the same. */
export const NEARLY = 0.9;

/** A rollout as what it is compared by. */
export interface Sketch {
  /** Runs of words of its calls, and how many words there are. */
  readonly programs: ReadonlySet<string>;
  /** The same of all that the model wrote. */
  readonly whole: ReadonlySet<string>;
}

/** Programs without comments, case as it is; texts in lower case. */
export function sketchOf({ turns }: Pick<Trajectory, 'turns'>): Sketch {
  const programs = turns.flatMap(({ segments }) =>
    segments.flatMap((segment) => (segment.kind === 'call' ? [`${segment.name} ${programText(segment.arguments)}`] : [])),
  );
  const prose = turns.map(({ segments }) => proseOf(segments).toLowerCase());
  return { programs: runs(programs.join('\n')), whole: runs([...prose, ...programs].join('\n')) };
}

/**
 * Whether two rollouts of one problem count as one: their calls are nearly the same, whatever stands around them, or all that was written
 * is (at least nine tenths of all runs of three words in common). Two without calls are compared by their text.
 */
export function nearlySame(a: Sketch, b: Sketch): boolean {
  if (a.programs.size > 0 && b.programs.size > 0 && jaccard(a.programs, b.programs) >= NEARLY) return true;
  return jaccard(a.whole, b.whole) >= NEARLY;
}

/** Comments leave; strings stay, since they may be the whole difference of two calls. */
const programText = (args: Readonly<Record<string, unknown>>): string =>
  Object.entries(args)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? bareProgram(value, 'keep') : JSON.stringify(value)}`)
    .join('\n');

function runs(text: string): Set<string> {
  const words = text.match(/[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
  const found = new Set<string>();
  if (words.length === 0) return found;
  if (words.length < RUN) return found.add(words.join(' '));
  for (let i = 0; i + RUN <= words.length; i++) found.add(words.slice(i, i + RUN).join(' '));
  return found;
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 1;
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  if (small.size < NEARLY * large.size) return 0;
  let common = 0;
  for (const run of small) if (large.has(run)) common++;
  return common / (a.size + b.size - common);
}
