/** `toolwise study`: parses, runs or reports, prints. */
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { UserError } from '../userError.js';
import { endInterrupted, interruptible } from './interrupt.js';
import { registerReport } from './studyReport.js';

interface Options {
  readonly out?: string;
  readonly blocks?: string;
  readonly parallel?: string;
  readonly minutes?: string;
  readonly steps?: string;
  readonly tokens?: string;
  readonly keepRuns?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function register(program: Command): void {
  // What stands behind `report` is its own: both know --json.
  const study = program.enablePositionalOptions().command('study').enablePositionalOptions();
  study
    .description("try the paper's findings, or your own: arms against each other over blocks, with verdicts")
    .argument('<plans...>', 'plan files (YAML), or names of plans that come along; several share what is equal in them')
    .option('--out <folder>', "the study's folder (default: runs/study-<first plan>); the same folder goes on")
    .option('--blocks <number>', 'at most so many blocks of each plan')
    .option('--parallel <number>', 'arms side by side (default: by cores and threads)')
    .option('--minutes <number>', 'begin no block that would not end within so many minutes')
    .option('--steps <number>', 'begin no block that would go beyond so many RL steps, of all arms together')
    .option('--tokens <number>', 'begin no block whose rollouts could go beyond so many tokens')
    .option('--keep-runs', 'keep the run folders, to look at them with npx toolwise ui')
    .option('--dry-run', 'show arms, claims, what is there already and what is left; run nothing')
    .option('--json', 'print the verdicts as JSON')
    .action(run);
  registerReport(study);
  for (const command of study.commands) command.showHelpAfterError(`(toolwise study ${command.name()} --help shows how it is called)`);
}

async function run(files: readonly string[], options: Options): Promise<void> {
  const { readPlanFiles, withBlocks } = await import('../study/plan.js');
  const most = wholeNumber('blocks', options.blocks);
  const { planFile } = await import('../study/packagedPlans.js');
  const plans = readPlanFiles(files.map(planFile)).map((plan) => withBlocks(plan, most));
  const out = options.out ?? join('runs', `study-${basename(plans[0]!.name)}`);
  const { BUDGETS, runStudy } = await import('../study/runStudy.js');
  const { readPlans, StudyFolder } = await import('../study/studyFolder.js');
  StudyFolder.refuse(out, plans);
  for (const { name, notes } of plans) for (const note of notes) console.error(`${name}: ${note}`);
  const { describeStudy } = await import('../study/describe.js');
  const parallel = wholeNumber('parallel', options.parallel);
  const budget = Object.fromEntries(
    BUDGETS.flatMap((kind) => {
      const value = wholeNumber(kind, options[kind]);
      return value === undefined ? [] : [[kind, value]];
    }),
  );
  for (const line of describeStudy(plans, out, parallel)) console.error(line);
  if (options.dryRun) return;

  const { StudyProgressLine } = await import('./studyProgress.js');
  const progress = new StudyProgressLine();
  try {
    const end = await interruptible((signal) =>
      runStudy({
        plans,
        out,
        ...(parallel !== undefined && { parallel }),
        budget,
        keepRuns: options.keepRuns ?? false,
        log: progress.log,
        onProgress: progress.show,
        signal,
      }),
    );
    progress.end();
    const { judge } = await import('../study/judge.js');
    const { claimLines } = await import('../study/claimText.js');
    // as the report does: Holm's procedure is over all that was ever run in the folder
    const names = new Set(plans.map(({ name }) => name));
    const judged = judge(readPlans(out), end.results).filter(({ plan }) => names.has(plan));
    if (options.json) console.log(JSON.stringify(judged));
    else for (const claim of judged) for (const line of claimLines(claim)) console.log(line);
    console.error(
      end.left > 0
        ? `${end.ran} arm-runs done, ${end.left} left: go on with the same command.`
        : `Results: ${out}/results. Report: npx toolwise study report ${out}`,
    );
  } catch (error) {
    progress.end();
    endInterrupted(error, (message) => console.error(`${message}. Go on with the same command; what has ended is kept in ${out}.`));
  }
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new UserError(`--${name} takes a whole number above 0, not ${JSON.stringify(text)}`);
}
