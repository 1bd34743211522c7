/** `toolwise data mix`: parses, calls, prints. */

import type { Command } from 'commander';
import type { MixPlan, MixPlanInput } from '../../data/mix/plan.js';
import { UserError } from '../../userError.js';
import {
  type CommonOptions,
  forceOption,
  jsonOption,
  outOption,
  printJson,
  runCommand,
  seedOption,
  strictOption,
  wholeNumber,
} from './common.js';

interface Options extends CommonOptions {
  readonly out: string;
  readonly source: readonly string[];
  readonly against: readonly string[];
  readonly schema?: string;
  readonly duplicates?: string;
  readonly tokenizer?: string;
  readonly maxPromptTokens?: string;
  readonly recipe?: string;
  readonly pairs?: string;
  readonly compare?: string;
}

const gather = (value: string, list: readonly string[]): string[] => [...list, value];

export function register(data: Command): void {
  const command = data
    .command('mix')
    .description('draw one set from several: by counts, without copies, without problems of evaluation sets')
    .argument('[plan]', 'a YAML file with sources and filters')
    .option('--source <file[:count]>', 'a source, in place of a plan; repeatable', gather, [])
    .option('--against <set>', 'an evaluation set to keep out: a file, a benchmark, or benchmark=file; repeatable', gather, [])
    .option('--schema <name>', 'of the set: open-agentrl-rl (default), plain, …')
    .option('--duplicates <which>', 'near, exact, or keep (default: near)')
    .option('--tokenizer <model>', 'with --max-prompt-tokens: whose tokens')
    .option('--max-prompt-tokens <number>', 'leave out longer prompts, system text and tools included')
    .option('--recipe <name>', 'whose prompt and tools they have (default: grpo-tcr)')
    .option('--pairs <file>', 'write every removed row with what it equals, as JSON Lines')
    .option('--compare <file>', 'show the diversity of another set beside');
  outOption(command);
  seedOption(strictOption(forceOption(jsonOption(command)))).action(async (plan: string | undefined, options: Options) =>
    run(plan, options, command.getOptionValueSource('seed') === 'default'),
  );
}

async function run(file: string | undefined, options: Options, seedIsDefault: boolean): Promise<void> {
  if ((file === undefined) === (options.source.length === 0))
    throw new UserError(
      'data mix needs a plan, or --source',
      'For example: npx toolwise data mix --source a.parquet:1000 --source b.jsonl --out set.parquet',
    );
  const seed = wholeNumber('--seed', options.seed, 0);
  const { readPlan, resolvePlan, parseSource } = await import('../../data/mix/plan.js');
  const base: MixPlanInput | MixPlan = file === undefined ? { sources: options.source.map(parseSource) } : readPlan(file);
  const plan = resolvePlan({
    ...base,
    ...((!seedIsDefault || base.seed === undefined) && { seed }),
    against: [...(base.against ?? []), ...options.against],
    ...(options.duplicates !== undefined && { duplicates: duplicatesOf(options.duplicates) }),
    ...promptOf(options, base),
  });
  const { mix } = await import('../../data/mix/mix.js');
  const { mixText, mixCard } = await import('../../data/mix/mixText.js');
  const { PairLog } = await import('../../data/mix/pairLog.js');
  const force = options.force ?? false;
  const log = options.pairs === undefined ? undefined : new PairLog(options.pairs, force);
  await runCommand(async ({ narrator, signal }) => {
    const compare = options.compare === undefined ? undefined : await measureFile(options.compare, signal);
    let bad = 0;
    const report = await mix(plan, {
      out: options.out,
      ...(options.schema !== undefined && { schema: options.schema }),
      force,
      strict: options.strict ?? false,
      signal,
      ...(compare && { compare }),
      onNote: (text) => narrator.log(text, 'warning'),
      onBad: ({ where, error }) => {
        if (++bad <= SHOWN_BAD) narrator.log(`${where}: ${error}`, 'warning');
        else if (bad === SHOWN_BAD + 1) narrator.log('further bad rows are only counted', 'warning');
      },
      onProgress: (what, done, all) => narrator.progress(what, done, all ?? done),
      ...(log && { onPair: (pair) => log.add(pair) }),
    });
    log?.close();
    narrator.end();
    const { writeCard, sha256Of } = await import('../../data/card.js');
    const { isHubSource } = await import('../../tables/hub.js');
    const hashes: (string | undefined)[] = [];
    for (const source of plan.sources) hashes.push(isHubSource(source.file) ? undefined : `sha256:${await sha256Of(source.file)}`);
    const card = await writeCard(options.out, mixCard(report, plan, hashes));
    if (options.json) printJson({ ...report, card });
    else console.log(mixText(report, options.compare));
    narrator.line(`\n${report.rows} rows in ${report.out}; card: ${card}`);
  }).finally(() => log?.discard());
}

const SHOWN_BAD = 5;

function duplicatesOf(text: string): MixPlan['duplicates'] {
  if (text === 'near' || text === 'exact' || text === 'keep') return text;
  throw new UserError(`--duplicates ${JSON.stringify(text)}: expected near, exact or keep`);
}

function promptOf(
  { tokenizer, maxPromptTokens, recipe }: Options,
  base: MixPlanInput | MixPlan,
): { prompt?: NonNullable<MixPlanInput['prompt']> } {
  if (tokenizer === undefined && maxPromptTokens === undefined && recipe === undefined) return {};
  const named = tokenizer ?? base.prompt?.tokenizer;
  const maxTokens = maxPromptTokens === undefined ? base.prompt?.maxTokens : wholeNumber('--max-prompt-tokens', maxPromptTokens);
  if (named === undefined || maxTokens === undefined)
    throw new UserError('--tokenizer and --max-prompt-tokens go together', 'For example --tokenizer smollm2-135m --max-prompt-tokens 2560');
  const by = recipe ?? base.prompt?.recipe;
  return { prompt: { tokenizer: named, maxTokens, ...(by !== undefined && { recipe: by }) } };
}

async function measureFile(file: string, signal: AbortSignal): Promise<import('../../data/diversity.js').DiversityMeter> {
  const { openProblems } = await import('../../problems/readProblems.js');
  const { DiversityMeter } = await import('../../data/diversity.js');
  const meter = new DiversityMeter();
  for await (const { problem } of (await openProblems(file, { signal })).rows())
    meter.add({ text: problem.question, source: problem.source, ability: problem.kind ?? 'math' });
  return meter;
}
