/** Reads the parameters of a request; what cannot be read is refused by name. Knows no table. */

import type { Stage } from '../../domain/event.js';
import type { StopReason } from '../../domain/stopReason.js';
import type { Flag, GroupQuery, TrajectoryQuery } from '../api.js';
import { GROUP_KINDS, GROUP_SORTS } from './groups.js';
import { PROBLEM_SORTS, type ProblemQuery } from './problems.js';
import { Refusal } from './refusal.js';

const STAGES = ['base', 'sft', 'rl'] as const satisfies readonly Stage[];
const STOPS = [
  'answered',
  'stopTool',
  'turnLimit',
  'tokenLimit',
  'malformedLimit',
  'agentError',
  'deadline',
] as const satisfies readonly StopReason['kind'][];
export const FLAGS = [
  'wrongThoughToolSucceeded',
  'malformed',
  'truncated',
  'infra',
  'toolFailed',
  'noCall',
  'gradersDisagree',
  'extremeAdvantage',
] as const satisfies readonly Flag[];
export const SORTS = ['newest', 'oldest', 'longest', 'shortest', 'reward', '-reward', 'advantage', '-advantage', 'calls'] as const;
export type Sort = (typeof SORTS)[number];

/** Of one answer. */
const MOST_ROWS = 500;

const present = <T extends object>(fields: { readonly [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

export class Query {
  readonly #search: URLSearchParams;

  constructor(url: string) {
    this.#search = new URL(url).searchParams;
  }

  /** Absent where it is not given or empty. */
  text(name: string): string | undefined {
    return this.#search.get(name) || undefined;
  }

  /** Given more than once, or separated by commas. */
  list(name: string): string[] {
    return this.#search
      .getAll(name)
      .flatMap((text) => text.split(','))
      .filter((text) => text !== '');
  }

  /** Given more than once; commas are part of it. */
  all(name: string): string[] {
    return this.#search.getAll(name).filter((text) => text !== '');
  }

  whole(name: string, most = Number.MAX_SAFE_INTEGER): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!Number.isInteger(value) || value < 0) throw new Refusal(400, `${name}=${text}: a whole number from 0 is needed`);
    return Math.min(value, most);
  }

  yes(name: string): boolean | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    throw new Refusal(400, `${name}=${text}: true or false is needed`);
  }

  oneOf<T extends string>(name: string, known: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const found = known.find((one) => one === text);
    if (found === undefined) throw new Refusal(400, `${name}=${text}: one of ${known.join(', ')} is needed`);
    return found;
  }

  stage(): Stage | undefined {
    return this.oneOf('stage', STAGES);
  }

  trajectories(): TrajectoryQuery {
    const flags = this.list('flags').map((text) => {
      const found = FLAGS.find((flag) => flag === text);
      if (found === undefined) throw new Refusal(400, `flags=${text}: one of ${FLAGS.join(', ')} is needed`);
      return found;
    });
    const asked = {
      stage: this.stage(),
      step: this.whole('step'),
      fromStep: this.whole('fromStep'),
      toStep: this.whole('toStep'),
      split: this.text('split'),
      correct: this.yes('correct'),
      problemId: this.text('problemId'),
      groupId: this.text('groupId'),
      stopReason: this.oneOf('stopReason', STOPS),
      flags: flags.length > 0 ? flags : undefined,
      text: this.text('text'),
      sort: this.oneOf('sort', SORTS),
      offset: this.whole('offset'),
      limit: this.whole('limit', MOST_ROWS),
    };
    return present<TrajectoryQuery>(asked);
  }

  groups(): GroupQuery {
    return present<GroupQuery>({
      stage: this.stage(),
      split: this.text('split'),
      fromStep: this.whole('fromStep'),
      toStep: this.whole('toStep'),
      problemId: this.text('problemId'),
      kind: this.oneOf('kind', GROUP_KINDS),
      sort: this.oneOf('sort', GROUP_SORTS),
      offset: this.whole('offset'),
      limit: this.whole('limit', MOST_ROWS),
    });
  }

  problems(): ProblemQuery {
    return {
      split: this.text('split'),
      text: this.text('text'),
      sort: this.oneOf('sort', PROBLEM_SORTS),
      offset: this.whole('offset'),
      limit: this.whole('limit', MOST_ROWS),
    };
  }
}
