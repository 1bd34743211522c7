/**
 * LiveCodeBench v6: programs judged by hidden tests. Of the release files only contests from February to May 2025 count. Tests are read when
 * an answer is graded, so that a file of gigabytes costs no more than its text.
 */
import { readCodeTests } from '../reward/code/readCodeTests.js';
import { UserError } from '../userError.js';
import type { Benchmark, Layout } from './benchmark.js';
import { idOf, textOf } from './fields.js';
import { publishedScores } from './published.js';

const FROM = '2025-02-01';
const UNTIL = '2025-05-31';

const release: Layout = {
  name: 'release file',
  fields: {
    question: ['question_content'],
    public: ['public_test_cases'],
    private: ['private_test_cases'],
    date: ['contest_date'],
    metadata: ['metadata'],
    starter: ['starter_code'],
    id: ['question_id'],
    difficulty: ['difficulty'],
    platform: ['platform'],
  },
  optional: ['metadata', 'starter', 'difficulty', 'platform'],
  read(values, context) {
    const date = textOf(values, 'date', context).slice(0, 10);
    if (!/^\d{4}-\d\d-\d\d$/.test(date)) throw new UserError(`${context.where}: the contest date ${JSON.stringify(values.date)} is none`);
    if (date < FROM || date > UNTIL) return undefined;
    const starter = typeof values.starter === 'string' ? values.starter.trim() : '';
    const question = textOf(values, 'question', context).trim();
    const tags = Object.entries({ difficulty: values.difficulty, platform: values.platform, date });
    return {
      ...idOf(values),
      question: starter === '' ? question : `${question}\n\nStarter code:\n\`\`\`python\n${starter}\n\`\`\``,
      tests: { public_test_cases: values.public, private_test_cases: values.private, metadata: values.metadata ?? '{}' },
      starter: starter !== '',
      // Public tests are those of the text: without private ones nothing is hidden.
      testsShown: isEmpty(values.private) || privateArePublic(values),
      tags: Object.fromEntries(tags.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
    };
  },
};

/** Inputs and outputs stand in `reward_model`, which the released evaluation also pastes into the prompt. Ours does not. */
const agentRl: Layout = {
  name: 'Open-AgentRL-Eval',
  fields: { question: ['problem', 'question'], tests: ['reward_model'], extra: ['extra_info'], id: ['id', 'question_id'] },
  optional: ['extra', 'id'],
  read(values, context) {
    const question = textOf(values, 'question', context).trim();
    const tests = objectOf(values.tests);
    const truth = objectOf(tests?.ground_truth);
    if (truth === undefined) throw new UserError(`${context.where}: its reward_model holds no ground_truth`);
    const extra = objectOf(values.extra);
    return {
      ...idOf(values),
      question,
      // As it stands: read twice, a decimal such as 3.0 would have become an integer.
      tests: values.tests,
      starter: typeof truth.fn_name === 'string' && truth.fn_name !== '',
      testsShown: allShown(question, truth),
      ...(typeof extra?.difficulty === 'string' && { tags: { difficulty: extra.difficulty } }),
    };
  },
};

/** Tests that all stand in a problem's text pack into far less. */
const LONGEST_SHOWN = 65_536;

/** Whether the private tests are the public ones again. Only short ones are looked at: longer ones hold more than a text shows. */
function privateArePublic(values: Readonly<Record<string, unknown>>): boolean {
  const { private: hidden } = values;
  if (typeof hidden !== 'string' || hidden.length > LONGEST_SHOWN) return false;
  const casesOf = (privateTests: string): ReadonlySet<string> => {
    const tests = { public_test_cases: values.public, private_test_cases: privateTests, metadata: values.metadata ?? '{}' };
    const read = readCodeTests(tests, { maxBytes: 16 * LONGEST_SHOWN });
    return new Set(read.kind === 'assertions' ? [] : read.cases.map((one) => JSON.stringify(one)));
  };
  try {
    return casesOf(hidden).size === casesOf('[]').size;
  } catch (error) {
    // What cannot be read is said when an answer is graded.
    if (error instanceof UserError) return false;
    throw error;
  }
}

function isEmpty(tests: unknown): boolean {
  return (
    tests === undefined ||
    tests === null ||
    (typeof tests === 'string' ? /^\s*(\[\s*\])?\s*$/.test(tests) : Array.isArray(tests) && tests.length === 0)
  );
}

/** JSON text, or the object itself. */
function objectOf(value: unknown): Record<string, unknown> | undefined {
  try {
    const read: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? (read as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether input and output of every test stand in the text. */
function allShown(question: string, truth: Readonly<Record<string, unknown>>): boolean {
  const lists = ['inputs', 'outputs'].map((name) => listOf(truth[name]));
  const [inputs, outputs] = lists;
  if (inputs === undefined || outputs === undefined || inputs.length === 0) return false;
  const plain = squeezed(question);
  const stands = (value: unknown): boolean => plain.includes(squeezed(typeof value === 'string' ? value : JSON.stringify(value)));
  return inputs.every(stands) && outputs.every(stands);
}

const squeezed = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

function listOf(value: unknown): readonly unknown[] | undefined {
  try {
    const read: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return Array.isArray(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

export const liveCodeBench: Benchmark = {
  id: 'livecodebench-v6',
  title: 'LiveCodeBench v6 (February to May 2025)',
  source: 'hf:livecodebench/code_generation_lite/test6.jsonl',
  kind: 'code',
  layouts: [release, agentRl],
  published: publishedScores('livecodebench'),
};
