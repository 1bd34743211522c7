/**
 * A set of made-up problems in Open-AgentRL's form, one fifth of them programming tasks with tests, as a Parquet file of a wanted size; and an
 * evaluation set of which some problems were put into it. Seeded.
 */

import { findSchema } from '../problems/schemas/index.js';
import { Random } from '../random.js';
import { createTable } from '../tables/writeTable.js';
import { editedCopy } from './madePairs.js';
import { type MadeKind, madeProblem, textOf } from './madeProblems.js';

export interface MadeSet {
  readonly rows: number;
  /** Parquet bytes to come near to; 0 leaves the tests small. */
  readonly bytes: number;
  readonly seed: number;
}

/** What was put in on purpose. */
export interface Planted {
  /** Rows equal to an earlier one. */
  readonly copies: number;
  /** Rows that are an edited earlier one. */
  readonly nearCopies: number;
  /** Rows that hold a problem of the evaluation set. */
  readonly evaluation: number;
}

export const EVALUATION_ROWS = 500;
const EVALUATION_SEED = 99;

const evaluationText = (index: number): string => textOf(madeProblem(EVALUATION_SEED, index));

export async function writeEvaluationSet(file: string): Promise<void> {
  const table = await createTable(file, { force: true });
  for (let i = 0; i < EVALUATION_ROWS; i++) await table.write({ id: `evaluation-${i}`, question: evaluationText(i), answer: String(i) });
  await table.close();
}

const NAMES: Readonly<Record<MadeKind, string>> = {
  story: 'math_dapo',
  formula: 'train-math-made',
  proof: 'train-math-proof',
  science: 'mega-science',
  code: 'train-code-taco-made',
};

export async function writeMadeSet(file: string, { rows, bytes, seed }: MadeSet): Promise<Planted> {
  const schema = findSchema('open-agentrl-rl');
  const table = await createTable(file, { force: true, schema: schema.columns });
  const random = new Random(seed);
  const planted = { copies: 0, nearCopies: 0, evaluation: 0 };
  // Snappy makes random digits a fifth smaller; a fifth of the rows carries them.
  const testBytes = (1.2 * bytes) / (rows / 5);
  for (let i = 0; i < rows; i++) {
    let problem = madeProblem(seed, i);
    let text = textOf(problem);
    const draw = random.next();
    if (i > 100 && draw < 0.04) {
      problem = madeProblem(seed, random.int(0, 50));
      text = textOf(problem);
      planted.copies++;
    } else if (i > 100 && draw < 0.08) {
      problem = editedCopy(madeProblem(seed, random.int(51, 100)), random);
      text = textOf(problem);
      planted.nearCopies++;
    } else if (i > 100 && draw < 0.084) {
      text = `${textOf(madeProblem(seed + 1, i))} ${evaluationText(random.int(0, EVALUATION_ROWS - 1))}`;
      planted.evaluation++;
    }
    const source = NAMES[problem.kind];
    const common = { id: `made-${i}`, question: text, source };
    await table.write(
      schema.write!(
        problem.kind === 'code'
          ? { ...common, kind: 'code', tests: testsOf(random, testBytes) }
          : { ...common, answer: String(random.int(0, 999)) },
      ),
    );
  }
  await table.close();
  return planted;
}

/** As much text as asked for, of random numbers: tests of standard input and output. */
function testsOf(random: Random, bytes: number): string {
  const inputs: string[] = [];
  const outputs: string[] = [];
  for (let written = 0; written < Math.max(bytes, 40); ) {
    const numbers = Array.from({ length: 200 }, () => random.int(1, 999_999_999));
    const input = `${numbers.length}\n${numbers.join(' ')}\n`;
    inputs.push(input.slice(0, Math.max(40, bytes - written)));
    outputs.push(String(random.int(1, 999_999)));
    written += input.length + 12;
  }
  return JSON.stringify({ inputs, outputs });
}
