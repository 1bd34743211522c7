/** What an evaluation shares whoever answers: a benchmark's recipe and grader, the measuring itself, and what the run's record says. */
import { type BenchmarkChoice, type LoadedBenchmark, loadBenchmark } from '../benchmarks/loadBenchmark.js';
import type { EventSink } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import { environmentGrader } from '../environments/environmentScoring.js';
import { deriveSeed } from '../random.js';
import type { Recipe } from '../recipe/schema.js';
import { openCodeJudge } from '../reward/code/codeJudge.js';
import type { Grader } from '../reward/grader.js';
import { openProblemGrader } from '../reward/problemGrader.js';
import { gradedUnlessGiven } from '../reward/rewardFunction.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { isInstalled, RunnerOnDemand } from '../sandbox/onDemand.js';
import type { Log } from '../session/withRun.js';
import { type Answerer, type EvaluationResult, evaluatePolicy, type SamplingSetting } from './evaluate.js';
import type { EvaluateOptions } from './evaluateModel.js';

/** Everything that is settled before who answers is opened. */
export interface Evaluation<P extends Problem = Problem> {
  readonly options: EvaluateOptions<P>;
  readonly recipe: Recipe;
  readonly folder: string;
  readonly problems: readonly P[];
  readonly setting: SamplingSetting;
  readonly benchmark: LoadedBenchmark | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Prompts of the released evaluation have up to so many tokens. */
const PROMPT_TOKENS = 4096;

const NO_SECOND_OPINION = 'no sandbox is installed: an answer that only SymPy could decide counts as not equal';

export async function openBenchmark(
  choice: BenchmarkChoice,
  count: number | undefined,
  log: Log,
  signal: AbortSignal,
): Promise<LoadedBenchmark> {
  const hub = { log: (line: string) => log(line), signal, ...choice.open?.hub };
  const loaded = await loadBenchmark({ ...choice, limit: choice.limit ?? count, open: { ...choice.open, hub } });
  const { length } = loaded.problems;
  log(`${loaded.benchmark.title}: ${length} ${length === 1 ? 'problem' : 'problems'} of ${loaded.file}`);
  for (const warning of loaded.warnings) log(warning, 'warning');
  return loaded;
}

/** The recipe's tools and limits with the benchmark's prompt; without tools in plain mode. `--set prompt.system=…` has the last word. */
export function benchmarkRecipe(recipe: Recipe, { mode, system }: LoadedBenchmark, set: readonly string[]): Recipe {
  const ownSystem = set.some((assignment) => assignment.startsWith('prompt.system='));
  return {
    ...recipe,
    tools: mode === 'plain' ? [] : recipe.tools,
    prompt: { ...recipe.prompt, ...(mode === 'plain' && { mode: 'plain' as const }), ...(!ownSystem && { system }) },
    limits: { ...recipe.limits, promptTokens: Math.max(recipe.limits.promptTokens, PROMPT_TOKENS) },
  };
}

/** For the run's record. */
export function extraOf({ benchmark }: Pick<Evaluation, 'benchmark'>): Record<string, unknown> {
  if (benchmark === undefined) return {};
  const {
    benchmark: { id, published },
    mode,
    file,
    layout,
    problems,
    warnings,
  } = benchmark;
  return { benchmark: { id, mode, file, layout, problems: problems.length, warnings, published } };
}

export async function measure<P extends Problem>(
  { options, recipe, setting, benchmark, log, signal }: Evaluation<P>,
  opened: {
    readonly answerer: Answerer;
    readonly problems: readonly P[];
    readonly runner: CodeRunner | undefined;
    readonly lockstep: boolean;
    readonly concurrency?: number | undefined;
    readonly sink: EventSink;
  },
): Promise<EvaluationResult<P>> {
  const { sink, answerer, problems, lockstep, concurrency = 256 } = opened;
  // Without tools no sandbox is open; an answer that only SymPy can decide, or a program, opens one.
  const onDemand =
    opened.runner === undefined && isInstalled(recipe.sandbox.kind) ? new RunnerOnDemand({ kind: recipe.sandbox.kind }) : undefined;
  const runner: CodeRunner | undefined = opened.runner ?? onDemand;
  if (runner === undefined && benchmark?.benchmark.kind === 'math') {
    log(NO_SECOND_OPINION, 'warning');
    sink({ kind: 'note', level: 'warning', text: NO_SECOND_OPINION });
  }
  for (const text of benchmark?.warnings ?? []) sink({ kind: 'note', level: 'warning', text });
  const judge =
    benchmark?.benchmark.kind === 'code' && options.grader === undefined
      ? await openCodeJudge({ sandbox: recipe.sandbox.kind, ...(opened.runner && { runner: opened.runner }) })
      : undefined;
  const byKind = openProblemGrader({ runner, sandbox: recipe.sandbox.kind });
  try {
    const grader: Grader<P> = gradedUnlessGiven(
      options.grader ?? (options.environment && environmentGrader) ?? benchmark?.grader({ judge, runner }) ?? byKind.grader,
    );
    const [result] = await evaluatePolicy<P>({
      ...answerer,
      problems,
      settings: [setting],
      grader,
      stage: 'base',
      step: 0,
      seed: deriveSeed(recipe.seed, 'evaluation'),
      concurrency,
      lockstep,
      sink,
      signal,
      ...(options.onProgress && { onProgress: options.onProgress }),
    });
    return result!;
  } finally {
    await judge?.close();
    await byKind.close();
    await onDemand?.close();
  }
}
