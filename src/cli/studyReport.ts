/** `toolwise study report`: reads a study's folder, writes its page, prints its verdicts. */
import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { UserError } from '../userError.js';
import { makeFolder, writingTo } from '../userPath.js';

interface Options {
  readonly to?: string;
  readonly markdown?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

export function registerReport(study: Command): void {
  study
    .command('report')
    .description('write what came out of a study as one page, all its claims judged together')
    .argument('<folder>', "the study's folder")
    .option('--to <file.html>', 'the page (default: report.html in the folder)')
    .option('--markdown <file.md>', 'write Markdown too, with its figures in a folder beside it')
    .option('--json', 'print the verdicts and numbers as JSON; alone, it writes nothing')
    .option('--force', 'write over files that are there')
    .action(run);
}

async function run(folder: string, { to, markdown, json, force }: Options): Promise<void> {
  const { readReport } = await import('../study/report.js');
  const report = readReport(folder);
  const page = to ?? (json || markdown !== undefined ? undefined : join(folder, 'report.html'));
  const wanted = [page, markdown].filter((file) => file !== undefined);
  if (wanted.length === 2 && resolve(wanted[0]!) === resolve(wanted[1]!)) throw new UserError(`--to and --markdown name one file, ${to}`);
  for (const file of wanted)
    if (force !== true && existsSync(file))
      throw new UserError(`${file} is there already`, 'Give --force to write over it, or another name.');

  if (page !== undefined) {
    const { studyPage } = await import('../study/reportPage.js');
    write(page, studyPage(report));
  }
  if (markdown !== undefined) {
    const { findings } = await import('../study/findings.js');
    const beside = `${basename(markdown).replace(/\.md$/i, '')}-figures`;
    const { text, figures } = findings(report, encodeURIComponent(beside));
    write(markdown, text);
    for (const [name, svg] of figures) write(join(dirname(markdown), beside, name), svg);
  }
  if (json) {
    const { plans: _, ...rest } = report;
    console.log(JSON.stringify(rest));
  } else {
    const { claimLines } = await import('../study/claimText.js');
    for (const claim of report.claims) for (const line of claimLines(claim)) console.log(line);
  }
  for (const file of wanted) console.error(`Written: ${file}`);
}

const ANOTHER_FILE = 'Choose another file with --to or --markdown.';

/** @throws UserError where it cannot be written, for example into the folder of a study that is somebody else's */
function write(file: string, text: string): void {
  makeFolder(dirname(file), ANOTHER_FILE);
  writingTo(file, () => writeFileSync(file, text), ANOTHER_FILE);
}
