/** `toolwise data`: its commands, one file each. They load their work when they are called. */
import type { Command } from 'commander';
import { register as registerCheck } from './data/check.js';
import { register as registerDifficulty } from './data/difficulty.js';
import { register as registerImport } from './data/import.js';
import { register as registerInspect } from './data/inspect.js';
import { register as registerMix } from './data/mix.js';
import { register as registerSelect } from './data/select.js';
import { register as registerStitch } from './data/stitch.js';
import { register as registerTrajectories } from './data/trajectories.js';

const COMMANDS: readonly ((data: Command) => void)[] = [
  registerTrajectories,
  registerImport,
  registerStitch,
  registerCheck,
  registerInspect,
  registerMix,
  registerDifficulty,
  registerSelect,
];

export function register(program: Command): void {
  const data = program.command('data').description('build, inspect and check sets of problems and conversations');
  data.showHelpAfterError('(toolwise data --help lists the commands)');
  for (const add of COMMANDS) add(data);
  for (const command of data.commands) command.showHelpAfterError(`(toolwise data ${command.name()} --help shows how it is called)`);
}
