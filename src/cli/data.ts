/** `toolwise data`: its commands, one file each. They load their work when they are called. */
import type { Command } from 'commander';
import { register as registerInspect } from './data/inspect.js';

const COMMANDS: readonly ((data: Command) => void)[] = [registerInspect];

export function register(program: Command): void {
  const data = program.command('data').description('build, inspect and check sets of problems and conversations');
  data.showHelpAfterError('(toolwise data --help lists the commands)');
  for (const add of COMMANDS) add(data);
}
