/**
 * What `nano` is pretrained on: conversations of mixed quality, so that reinforcement learning has something to sharpen. A trace is
 * planned first (what would be written and run), its programs run all together (`replies.ts`), and then it is finished with their
 * results. Does not run programs and does not know tokens.
 */
import { spacedJson } from '../chat/hermes.js';
import { CALC_FAMILIES, type CalcProblem } from '../problems/calc.js';
import type { Random } from '../random.js';

export type TraceKind = 'right' | 'wrong' | 'guess' | 'forgotten' | 'error' | 'broken' | 'ignored';

export const TRACE_KINDS = ['right', 'wrong', 'guess', 'forgotten', 'error', 'broken', 'ignored'] as const satisfies readonly TraceKind[];

/** How good the traces are. */
export interface TraceMix {
  /** Shares of the kinds, in percent. */
  readonly shares: Readonly<Record<TraceKind, number>>;
  /** One mistake for each family in place of any: the most likely answer is then wrong. */
  readonly oneMistake: boolean;
  /** Families in turn have their share of right traces times these; what is taken from it or added goes to the wrong ones. */
  readonly rightByFamily: readonly number[];
}

/** `easy`: what `nano` is made of; greedy it is mostly right. `hard`: greedy it is mostly wrong, and some families are hardly ever right. */
export const TRACE_MIXES = {
  easy: {
    shares: { right: 15, wrong: 32, guess: 25, forgotten: 8, error: 8, broken: 8, ignored: 4 },
    oneMistake: false,
    rightByFamily: [1],
  },
  hard: {
    shares: { right: 10, wrong: 37, guess: 35, forgotten: 5, error: 5, broken: 5, ignored: 3 },
    oneMistake: true,
    rightByFamily: [0.1, 0.5, 1, 2.4],
  },
} as const satisfies Record<string, TraceMix>;

export type TraceMixName = keyof typeof TRACE_MIXES;

/** Of this mix for problems of one family. */
export function sharesFor(mix: TraceMix, family: string): Record<TraceKind, number> {
  const names = CALC_FAMILIES.map(({ name }) => name);
  const factor = mix.rightByFamily[Math.max(0, names.indexOf(family)) % mix.rightByFamily.length]!;
  const moved = mix.shares.right * (1 - factor);
  return { ...mix.shares, right: mix.shares.right - moved, wrong: mix.shares.wrong + moved };
}

/** A turn that calls: some text, then what stands between the call's tags. */
export interface PlannedCall {
  readonly before: string;
  readonly body: string;
}

export interface TracePlan {
  readonly problem: CalcProblem;
  readonly kind: TraceKind;
  readonly calls: readonly PlannedCall[];
  /** What the last turn answers: the last reply (or `fallback`, where that is no number), or something of its own. */
  readonly answer: { readonly kind: 'lastReply'; readonly fallback: string } | { readonly kind: 'own'; readonly text: string };
  readonly answerBefore: string;
}

/** A finished conversation: one reply a call. */
export interface Trace {
  readonly problem: CalcProblem;
  readonly kind: TraceKind;
  readonly turns: readonly { readonly text: string; readonly reply?: string }[];
}

const CALL_BEFORE = ['', '', '', 'I will run code. '];
const GUESS_BEFORE = ['', 'I know this. '];
const ANSWER_BEFORE = ['', 'The answer is '];
const NUMBER = /^-?\d+(\.\d+)?$/;

export function planTrace(problem: CalcProblem, random: Random, mix: TraceMix = TRACE_MIXES.easy): TracePlan {
  const kind = drawKind(sharesFor(mix, problem.tags.family), random);
  const right = random.pick(problem.programs);
  const wrong = random.pick(mix.oneMistake ? problem.wrongPrograms.slice(0, 1) : problem.wrongPrograms);
  const before = random.pick(CALL_BEFORE);
  const someNumber = String(random.int(10, 9999));
  const run = (text: string, code: string): PlannedCall => ({ before: text, body: callBody(code) });
  const plan = (calls: PlannedCall[], answer: TracePlan['answer'] = { kind: 'lastReply', fallback: someNumber }): TracePlan => ({
    problem,
    kind,
    calls,
    answer,
    answerBefore: random.pick(kind === 'guess' ? GUESS_BEFORE : ANSWER_BEFORE),
  });
  const giveUp: TracePlan['answer'] = { kind: 'own', text: someNumber };
  const second = (): string => printed(random.chance(0.6) ? right : wrong, random);

  switch (kind) {
    case 'right':
      return plan([run(before, printed(right, random))]);
    case 'wrong': {
      const first = run(before, printed(wrong, random));
      return plan(random.chance(0.1) ? [first, run('Let me check. ', printed(right, random))] : [first]);
    }
    case 'guess':
      return plan([], { kind: 'own', text: guess(problem, random) });
    case 'forgotten': {
      const first = run(before, assigned(right));
      return random.chance(0.6) ? plan([first, run('I forgot print. ', second())]) : plan([first], giveUp);
    }
    case 'error': {
      const first = run(before, spoiled(printed(right, random)));
      return random.chance(0.6) ? plan([first, run('Fix it. ', second())]) : plan([first], giveUp);
    }
    case 'broken': {
      const first: PlannedCall = { before, body: brokenBody(printed(right, random), random) };
      return random.chance(0.5) ? plan([first, run('Fix it. ', second())]) : plan([first], giveUp);
    }
    case 'ignored':
      return plan([run(before, printed(right, random))], giveUp);
  }
}

/** The trace with its replies, which are those of `plan.calls` in order. */
export function finishTrace(plan: TracePlan, replies: readonly string[]): Trace {
  const last = replies.at(-1);
  const answer = plan.answer.kind === 'own' ? plan.answer.text : last !== undefined && NUMBER.test(last) ? last : plan.answer.fallback;
  return {
    problem: plan.problem,
    kind: plan.kind,
    turns: [
      ...plan.calls.map((call, i) => ({ text: turnText(call), reply: replies[i]! })),
      { text: `${plan.answerBefore}\\boxed{${answer}}` },
    ],
  };
}

/** A calling turn as the model writes it. */
export const turnText = (call: PlannedCall): string => `${call.before}<tool_call>\n${call.body}\n</tool_call>`;

function drawKind(shares: Readonly<Record<TraceKind, number>>, random: Random): TraceKind {
  const kinds = TRACE_KINDS.map((kind) => [kind, shares[kind]] as const);
  let left = random.next() * kinds.reduce((sum, [, share]) => sum + share, 0);
  for (const [kind, share] of kinds) {
    left -= share;
    if (left < 0) return kind;
  }
  return 'right';
}

const callBody = (code: string): string => spacedJson({ name: 'code_interpreter', arguments: { code } });

function brokenBody(code: string, random: Random): string {
  const body = callBody(code);
  const kind = random.next();
  if (kind < 0.4) return body.slice(0, -1);
  if (kind < 0.7) return body.replace('code_interpreter', 'python');
  return body.replace('{"code": ', '').replace(/\}\}$/, '}');
}

function split(program: string): { setup: string; expression: string } {
  const at = program.lastIndexOf('\n') + 1;
  return { setup: program.slice(0, at), expression: program.slice(at) };
}

function printed(program: string, random: Random): string {
  const { setup, expression } = split(program);
  return random.chance(0.8) ? `${setup}print(${expression})` : `${setup}x = ${expression}\nprint(x)`;
}

/** The result is computed and kept to itself. */
function assigned(program: string): string {
  const { setup, expression } = split(program);
  return `${setup}x = ${expression}`;
}

/** A program that fails: its last bracket is missing. */
const spoiled = (program: string): string => program.slice(0, -1);

function guess(problem: CalcProblem, random: Random): string {
  if (random.chance(0.5)) return problem.answer;
  const off = BigInt(problem.answer) + BigInt(random.pick([-10, -1, 1, 2, 9, 10, 100]));
  return (off < 0n ? 0n : off).toString();
}
