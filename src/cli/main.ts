#!/usr/bin/env node
/**
 * The command line: which commands there are, and how each kind of failure ends. Loads only the file of the command that is asked for.
 * Exit codes: 0, 1 something failed, 2 the user's mistake.
 */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { UserError } from '../userError.js';
import { plainText } from './plainText.js';

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<{ register(program: Command): void }>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  doctor: { summary: 'check this machine and say what to do', load: () => import('./doctor.js') },
  setup: { summary: 'install what a run needs; repeatable', load: () => import('./setup.js') },
  demo: { summary: 'two small models learn to reason with a tool, before your eyes', load: () => import('./demo.js') },
  train: { summary: 'train a model by a recipe', load: () => import('./train.js') },
  eval: { summary: 'evaluate a model or a run on problems', load: () => import('./eval.js') },
  grade: { summary: 'grade answers', load: () => import('./grade.js') },
  data: { summary: 'build, inspect and check training data', load: () => import('./data.js') },
  export: { summary: 'write a trained model for other programs', load: () => import('./export.js') },
  serve: { summary: 'serve a trained model to OpenAI clients', load: () => import('./serve.js') },
  ui: { summary: 'show runs in the browser', load: () => import('./ui.js') },
  study: { summary: "try the paper's findings, or your own, with repeats and verdicts", load: () => import('./study.js') },
};

export async function main(args: readonly string[]): Promise<void> {
  const program = new Command('toolwise')
    .description('Agentic reinforcement learning: a small model learns to reason with tools.')
    .version(version())
    .exitOverride()
    .showHelpAfterError('(toolwise --help lists the commands)');
  const asked = args.find((arg) => !arg.startsWith('-') && arg !== 'help');
  for (const [name, entry] of Object.entries(COMMANDS)) {
    if (name === asked) (await entry.load()).register(program);
    else program.command(name).description(entry.summary);
  }
  if (args.length === 0) program.help();
  await program.parseAsync([...args], { from: 'user' });
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Failures of the machine that explain themselves. */
const MACHINE_FAILURES: ReadonlySet<string> = new Set(['EngineError', 'EngineStopped', 'InfrastructureStop', 'ExportFailure']);

/** Prints a failure as its kind deserves; gives the exit code. */
export function explainFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UserError) {
    console.error(`error: ${plainText(error.message)}`);
    if (error.hint !== undefined) console.error(`  ${plainText(error.hint).replaceAll('\n', '\n  ')}`);
    return 2;
  }
  if (error instanceof Error && MACHINE_FAILURES.has(error.name)) {
    console.error(`error: ${plainText(error.message)}`);
    // What an engine refuses before anything is computed is the user's to mend, as if we had refused it.
    return (error as { category?: unknown }).category === 'user' ? 2 : 1;
  }
  console.error(error instanceof Error ? (error.stack ?? error.message) : error);
  return 1;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.exitCode = explainFailure(error);
});
