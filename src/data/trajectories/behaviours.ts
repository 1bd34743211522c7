/**
 * The behaviours that real trajectories show and stitched ones lack (paper, section 3.1), found by rules that can be stated. Pure functions
 * over turns and segments; a rule sees the form of what was done, not its sense. Does not grade and does not select.
 */
import type { CallSegment, Segment } from '../../domain/segment.js';
import type { Trajectory } from '../../domain/trajectory.js';
import type { Reply, Turn } from '../../domain/turn.js';
import { bareProgram } from './bareProgram.js';

export type Behaviour = 'analysis' | 'guarded' | 'recovery' | 'checking';

type Turns = Pick<Trajectory, 'turns'>;

export const BEHAVIOURS: Readonly<Record<Behaviour, { readonly title: string; readonly shows: (trajectory: Turns) => boolean }>> = {
  analysis: { title: 'analysis before the call', shows: analysesFirst },
  guarded: { title: 'guarded execution with intermediate checks', shows: guardsExecution },
  recovery: { title: 'error recovery and strategy revision', shows: recovers },
  checking: { title: 'reflection and checking of a result', shows: checksResult },
};

export const BEHAVIOUR_NAMES = Object.keys(BEHAVIOURS) as Behaviour[];

export const behavioursOf = (trajectory: Turns): Behaviour[] => BEHAVIOUR_NAMES.filter((name) => BEHAVIOURS[name].shows(trajectory));

/** Words of an analysis; fewer are an announcement, such as "Let me calculate this." */
const ANALYSIS_WORDS = 10;

/**
 * Analysis before the call: in the turn of the first call, before that call, stand at least ten words of text or thinking. Numbers and
 * names inside formulae count as words.
 */
export function analysesFirst({ turns }: Turns): boolean {
  for (const { segments } of turns) {
    const call = segments.findIndex(isAnyCall);
    if (call !== -1) return words(proseOf(segments.slice(0, call))) >= ANALYSIS_WORDS;
  }
  return false;
}

/**
 * Guarded execution with intermediate checks: a call that ran with success carried a program which guards itself (`assert`, or `try` with
 * `except`, or `raise`), or which shows more than its result: `print` at two places or more. Comments and strings do not count.
 */
export function guardsExecution({ turns }: Turns): boolean {
  return executed(turns).some(({ success, call }) => success && programsOf(call).some(isGuarded));
}

function isGuarded(program: string): boolean {
  const bare = bareProgram(program, 'empty');
  if (/(?<![\w.])(?:assert|raise)(?!\w)/.test(bare)) return true;
  if (/(?<![\w.])try\s*:/.test(bare) && /(?<![\w.])except(?!\w)/.test(bare)) return true;
  return (bare.match(/(?<![\w.])print\s*\(/g)?.length ?? 0) >= 2;
}

/**
 * Error recovery and strategy revision: a call failed (it ran into an error, was refused for what it said, or could not be read), and a later one with other
 * arguments ran with success.
 */
export function recovers({ turns }: Turns): boolean {
  const failed: (string | undefined)[] = [];
  for (const { segments, replies } of turns) {
    const calls = segments.filter(isAnyCall);
    for (const [i, reply] of replies.entries()) {
      const call = calls[i];
      const written = call?.kind === 'call' ? writtenCall(call) : undefined;
      if (reply.kind === 'executed' && reply.success) {
        if (failed.some((earlier) => earlier !== written)) return true;
      } else if (reply.kind === 'executed' || reply.problem !== 'tooManyCalls') failed.push(written);
    }
  }
  return false;
}

/**
 * Reflection and checking: after a call ran with success, the model writes that it checks, doubts or corrects (see `CHECKING`; "no need to
 * check" does not count), or it runs a further program with success that compares: `assert` or `==`.
 */
export function checksResult({ turns }: Turns): boolean {
  let known = false;
  for (const { segments, replies } of turns) {
    if (known && (saysChecking(proseOf(segments)) || replies.some(compares))) return true;
    known ||= replies.some(succeeded);
  }
  return false;
}

const CHECKING =
  /\b(?:(?:(?:double|cross|re)[- ]?)?check(?:s|ed|ing)?|verif(?:y|ies|ied|ying|ication)|confirm(?:s|ed|ing)?|sanity|make sure|plug(?:ging)? (?:it |this |that |them )?(?:back )?in(?:to)?|wait|hmm|mistaken?|contradict(?:s|ion)?|inconsistent|does(?:n't| not) (?:match|agree|look right)|recalculat(?:e|ing)|reconsider|re-?examine)(?!\w)/gi;
const DENIED = /\b(?:no need to|not need(?:ed)? to|without|needn't|never|n't)\s+(?:to\s+)?(?:\w+\s+)?$/i;

function saysChecking(prose: string): boolean {
  for (const match of prose.matchAll(CHECKING)) {
    if (!DENIED.test(prose.slice(Math.max(0, match.index - 40), match.index))) return true;
  }
  return false;
}

const compares = (reply: Reply): boolean =>
  succeeded(reply) &&
  programsOf((reply as Executed).call).some((program) => /(?<![\w.])assert(?!\w)|==/.test(bareProgram(program, 'empty')));

type Executed = Extract<Reply, { kind: 'executed' }>;

const isAnyCall = ({ kind }: Segment): boolean => kind === 'call' || kind === 'malformedCall' || kind === 'cutOffCall';
const succeeded = (reply: Reply): boolean => reply.kind === 'executed' && reply.success;
const executed = (turns: readonly Turn[]): Executed[] =>
  turns.flatMap(({ replies }) => replies.filter((reply): reply is Executed => reply.kind === 'executed'));

/** Text and thinking. */
export const proseOf = (segments: readonly Segment[]): string =>
  segments.flatMap((segment) => (segment.kind === 'text' || segment.kind === 'thinking' ? [segment.text] : [])).join('\n');

/** Texts among a call's arguments: one of them is the program, whatever the tool calls it. */
export const programsOf = (call: CallSegment): string[] =>
  Object.values(call.arguments).filter((value): value is string => typeof value === 'string');

/** A call so that two of the same program are equal, however they are spaced and commented. */
export const writtenCall = ({ name, arguments: args }: CallSegment): string =>
  JSON.stringify([name, args], (_, value: unknown) => (typeof value === 'string' ? bareSpacing(value) : value));

const bareSpacing = (text: string): string => bareProgram(text, 'keep').replace(/\s+/g, ' ').trim();

const words = (text: string): number => text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
