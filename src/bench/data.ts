/**
 * The data commands on made sets: seconds and peak memory of `inspect` and `mix` on 30,000 rows with 175 MB of Parquet, and what a row costs
 * in memory on many rows; how well near-duplicates and problems of evaluation sets are found. Each command is a process of its own.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EvaluationIndex } from '../data/contamination/evaluationIndex.js';
import { findDuplicates } from '../data/duplicates/findDuplicates.js';
import { wordsOf } from '../data/duplicates/words.js';
import { madePairs } from './madePairs.js';
import { madeProblem, templatedText, textOf } from './madeProblems.js';
import { writeEvaluationSet, writeMadeSet } from './madeSet.js';

export interface Measured {
  readonly seconds: number;
  /** Absent where the system does not tell. */
  readonly peakBytes: number | undefined;
}

export interface DataFigures {
  readonly fileBytes: number;
  readonly inspect: Measured;
  readonly mix: Measured;
  /** Of `mix`, on a tenth of `manyRows` and on all of them. */
  readonly few: Measured;
  readonly many: Measured;
  /** Growth of the peak over growth of the rows. */
  readonly bytesPerRow: number | undefined;
}

export interface DataSizes {
  readonly rows: number;
  readonly bytes: number;
  readonly manyRows: number;
}

export async function benchmarkData({ rows, bytes, manyRows }: DataSizes, log: (line: string) => void): Promise<DataFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwise-bench-data-'));
  const at = (name: string): string => join(folder, name);
  const mix = (set: string): Promise<Measured> =>
    measure(['mix', '--source', at(set), '--out', at('mixed.parquet'), '--against', at('evaluation.jsonl'), '--force']);
  try {
    await writeEvaluationSet(at('evaluation.jsonl'));
    log(`making ${rows} rows with tests`);
    await writeMadeSet(at('tests.parquet'), { rows, bytes, seed: 5 });
    const inspect = await measure(['inspect', at('tests.parquet')]);
    const mixed = await mix('tests.parquet');
    const fileBytes = statSync(at('tests.parquet')).size;
    rmSync(at('tests.parquet'));
    const fewRows = Math.round(manyRows / 10);
    log(`making ${fewRows} and ${manyRows} short rows`);
    await writeMadeSet(at('few.parquet'), { rows: fewRows, bytes: 0, seed: 6 });
    const few = await mix('few.parquet');
    await writeMadeSet(at('many.parquet'), { rows: manyRows, bytes: 0, seed: 6 });
    const many = await mix('many.parquet');
    const grown = few.peakBytes === undefined || many.peakBytes === undefined ? undefined : many.peakBytes - few.peakBytes;
    return { fileBytes, inspect, mix: mixed, few, many, bytesPerRow: grown === undefined ? undefined : grown / (manyRows - fewRows) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As the command line is run, of the same build as this file. */
async function measure(args: readonly string[]): Promise<Measured> {
  const here = fileURLToPath(import.meta.url);
  const main = fileURLToPath(new URL(`../cli/main${extname(here)}`, import.meta.url));
  const started = performance.now();
  const child = spawn(process.execPath, [...process.execArgv, main, 'data', ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  let peakBytes: number | undefined;
  const watch = setInterval(() => {
    peakBytes = peakOf(child.pid) ?? peakBytes;
  }, 50);
  try {
    const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
    if (code !== 0) throw new Error(`data ${args[0]} ended with ${code}`);
    return { seconds: (performance.now() - started) / 1000, peakBytes };
  } finally {
    clearInterval(watch);
  }
}

/** Linux tells the largest resident size that a process had so far. */
function peakOf(pid: number | undefined): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

export interface FoundFigures {
  /** Near-duplicates on made pairs, half of them the same problem. */
  readonly recall: number;
  readonly precision: number;
  /** Pairs that differ in numbers alone, and how many of them were taken for copies. */
  readonly numberPairs: number;
  readonly numberPairsFound: number;
  /** Of 10,000 rows of varied wording, and of 10,000 in an evaluation problem's wording with other numbers. */
  readonly cleanRemoved: number;
  readonly templatesRemoved: number;
  readonly templatesTold: number;
}

export function benchmarkFinding(seed = 20261130): FoundFigures {
  const made = madePairs(seed, 2000);
  const { pairs } = findDuplicates(made.flatMap(({ first, second }) => [first, second]));
  const within = pairs.filter(({ kept, removed }) => kept >> 1 === removed >> 1);
  const right = within.filter(({ kept }) => made[kept >> 1]!.same).length;
  const found = new Set(within.map(({ kept }) => kept >> 1));
  const numbers = made.flatMap(({ how }, index) => (/^numbers?$/.test(how) ? [index] : []));

  const evaluation = Array.from({ length: 500 }, (_, i) => (i < 400 ? textOf(madeProblem(901, i)) : templatedText(901, i)));
  const index = new EvaluationIndex(evaluation.map((text, i) => ({ set: 'made', where: `made:${i + 1}`, text })));
  const kinds = (make: (i: number) => string): string[] =>
    Array.from({ length: 10_000 }, (_, i) => index.find(wordsOf(make(i)))?.kind ?? 'clean');
  const clean = kinds((i) => textOf(madeProblem(904, i)));
  const templates = kinds((i) => templatedText(904, i));
  const removed = (list: readonly string[]): number => list.filter((kind) => kind !== 'clean' && kind !== 'template').length;
  return {
    recall: right / made.filter(({ same }) => same).length,
    precision: right / pairs.length,
    numberPairs: numbers.length,
    numberPairsFound: numbers.filter((one) => found.has(one)).length,
    cleanRemoved: removed(clean),
    templatesRemoved: removed(templates),
    templatesTold: templates.filter((kind) => kind === 'template').length,
  };
}
