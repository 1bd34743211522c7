/** A small environment for tests: a counter that is to reach a number. Says nothing about the loop. */
import { z } from 'zod';
import type { Problem } from '../domain/problem.js';
import { type Environment, type EnvironmentDefinition, environment } from './environment.js';

export interface Counting extends Problem {
  readonly goal: number;
}

export interface Counter {
  value: number;
  readonly seed: number;
}

export type Happening = readonly [what: string, detail: number | string];

/** Tells `happened` of every reset, step, score and tear-down; `changes` go over the definition. */
export function counting(
  happened: Happening[] = [],
  changes: Partial<EnvironmentDefinition<Counting, Counter, { add: z.ZodObject<{ n: z.ZodNumber }>; give_up: z.ZodObject }>> = {},
): Environment<Counting> {
  return environment<Counting, Counter, { add: z.ZodObject<{ n: z.ZodNumber }>; give_up: z.ZodObject }>({
    name: 'counting',
    reset: (_, { seed }) => {
      happened.push(['reset', seed]);
      return { state: { value: 0, seed }, observation: `The counter is at 0. Seed ${seed}.` };
    },
    actions: {
      add: {
        description: 'Adds to the counter.',
        parameters: z.object({ n: z.number() }),
        step: (state, { n }, { problem }) => {
          happened.push(['step', n]);
          state.value += n;
          return { observation: `${state.value}`, reward: n / 8, done: state.value === problem.goal };
        },
      },
      give_up: { description: 'Gives up.', parameters: z.object({}), step: () => ({ observation: 'given up', done: true }) },
    },
    score: ({ value }, { problem }) => {
      happened.push(['score', value]);
      return { success: value === problem.goal, reward: value === problem.goal ? 1 : -1 };
    },
    tearDown: ({ value }) => {
      happened.push(['tearDown', value]);
    },
    ...changes,
  });
}

export const GOAL: Counting = { id: 'p', question: 'Count to 5.', goal: 5 };

/** A turn that calls an action. */
export const act = (name: string, args: Readonly<Record<string, unknown>> = {}): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
