/**
 * What the commands under `toolwise data` share: the options they have in common, numbers read from options, and how they end. Does not
 * know any one command.
 */
import type { Command } from 'commander';
import { UserError } from '../../userError.js';
import { endInterrupted, interruptible } from '../interrupt.js';
import { Narrator } from '../narrator.js';

/** What `outOption`, `forceOption`, `strictOption`, `seedOption` and `jsonOption` make of a command line. */
export interface CommonOptions {
  readonly out?: string;
  readonly force?: boolean;
  readonly strict?: boolean;
  /** Read it with `wholeNumber('--seed', options.seed, 0)`. */
  readonly seed: string;
  readonly json?: boolean;
}

/** @param required whether the command makes no sense without a file */
export const outOption = (command: Command, required = true): Command =>
  required
    ? command.requiredOption('--out <file>', 'the set to write: .parquet, .jsonl or .csv')
    : command.option('--out <file>', 'the set to write: .parquet, .jsonl or .csv');

export const forceOption = (command: Command): Command => command.option('--force', 'write over a file that is there');

export const strictOption = (command: Command): Command =>
  command.option('--strict', 'end at the first bad row, in place of counting and leaving it out');

export const seedOption = (command: Command): Command => command.option('--seed <number>', 'of everything that is drawn', '1');

export const jsonOption = (command: Command): Command => command.option('--json', 'print one JSON object');

/** @throws UserError naming the option */
export function wholeNumber(option: string, text: string, least = 1): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < least)
    throw refuse(option, text, `a whole number of at least ${least}`);
  return value;
}

/** @throws UserError naming the option */
export function realNumber(option: string, text: string, low: number, high: number): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= low && value <= high)) throw refuse(option, text, `a number from ${low} to ${high}`);
  return value;
}

const refuse = (option: string, text: string, wanted: string): Error =>
  new UserError(`${option} ${JSON.stringify(text)}: expected ${wanted}`);

/** What a command's work is given. */
export interface CommandContext {
  readonly narrator: Narrator;
  /** For `onProgress`: a bar on a terminal; elsewhere a line every ten seconds. `all` may be unknown. */
  readonly progress: (what: string) => (done: number, all?: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Runs a command's work: lines and progress on standard error, and a clean end when it is interrupted (exit code 130). A reader that leaves
 * early, as `head` does, ends the command.
 */
export async function runCommand(work: (context: CommandContext) => Promise<void>): Promise<void> {
  const narrator = new Narrator();
  process.stdout.on('error', endWithReader);
  try {
    await interruptible((signal) => work({ narrator, progress: (what) => progressOf(narrator, what), signal }));
  } catch (error) {
    narrator.end();
    endInterrupted(error);
  } finally {
    narrator.end();
    process.stdout.off('error', endWithReader);
  }
}

const EVERY_MS = 10_000;

function progressOf(narrator: Narrator, what: string): (done: number, all?: number) => void {
  let told = performance.now();
  return (done, all) => {
    narrator.progress(what, done, all ?? done);
    if (process.stderr.isTTY || performance.now() - told < EVERY_MS) return;
    told = performance.now();
    narrator.line(`${what} ${done}${all === undefined ? '' : ` of ${all}`}`);
  };
}

function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
}

/** The result that a program may read, on standard output. */
export const printJson = (value: unknown): void => console.log(JSON.stringify(value, null, 2));
