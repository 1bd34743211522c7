/** `toolwise doctor`: prints the checks; exit 1 when something needed is missing. */
import type { Command } from 'commander';

const MARKS = { ok: 'ok     ', warn: 'warn   ', missing: 'MISSING' } as const;

export function register(program: Command): void {
  program
    .command('doctor')
    .description('check Node, Python, engine, sandbox, memory, disk and weights, and say what to do')
    .option('--json', 'print one JSON object')
    .action(async ({ json = false }: { json?: boolean }) => {
      const { diagnose } = await import('../setup/doctor.js');
      const checks = await diagnose((check) => {
        if (json) return;
        console.log(`${MARKS[check.status]}  ${check.name}: ${check.detail}`);
        if (check.remedy !== undefined) console.log(`         ${check.remedy}`);
      });
      const missing = checks.filter((check) => check.status === 'missing');
      if (json) console.log(JSON.stringify({ ok: missing.length === 0, checks }, null, 2));
      else console.log(missing.length === 0 ? 'All that is needed is here.' : `Missing: ${missing.map((check) => check.name).join(', ')}.`);
      if (missing.length > 0) process.exitCode = 1;
    });
}
