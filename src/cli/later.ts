/** A command whose name is settled, but which this version does not have: it says so. */
import type { Command } from 'commander';

export function registerLater(program: Command, name: string, summary: string): void {
  program
    .command(name)
    .description(`${summary} (not part of this version)`)
    .allowUnknownOption()
    .allowExcessArguments()
    .helpOption(false)
    .action(() => {
      console.error(`toolwise ${name} is not part of this version.`);
      process.exitCode = 2;
    });
}
