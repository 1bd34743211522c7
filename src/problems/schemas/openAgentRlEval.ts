/**
 * Open-AgentRL's evaluation files, told apart by row: AIME 2024 (`Problem`, `Answer`) and 2025 (`problem`, `answer`), GPQA-Diamond
 * (`problem`, `solution` with a letter, `domain`), LiveCodeBench v6 (`problem`, `reward_model` and `extra_info` as JSON text).
 */
import type { Problem } from '../../domain/problem.js';
import type { ParquetColumns } from '../../tables/parquetSchema.js';
import { jsonText } from '../../tables/parquetValues.js';
import type { TableRow } from '../../tables/table.js';
import { UserError } from '../../userError.js';
import { idOf, isRecord, objectOf, parsed, sourceOf } from './fields.js';
import { answerGold, type Gold, letterGold, testsGold } from './gold.js';
import type { RowValues, Schema } from './schema.js';

const COLUMNS: ParquetColumns = {
  data_source: 'text',
  problem: 'text',
  answer: 'text',
  solution: 'text',
  domain: 'text',
  ability: 'text',
  reward_model: 'text',
  extra_info: 'text',
};

export const openAgentRlEval: Schema = {
  name: 'open-agentrl-eval',
  title: 'Open-AgentRL-Eval: AIME, GPQA-Diamond, LiveCodeBench',
  columns: COLUMNS,
  matches: (columns) => {
    const has = (name: string): boolean => columns.includes(name);
    if (!has('data_source') || !(has('problem') || has('Problem')) || has('prompt')) return false;
    return has('answer') || has('Answer') || has('reward_model') || (has('solution') && has('domain'));
  },
  read: readRow,
  write: writeRow,
};

/** The first of the names that the row has. */
const nameOf = (values: RowValues, names: readonly string[]): string =>
  names.find((name) => values[name] !== undefined && values[name] !== null) ?? names[0]!;

function readRow({ values, where, number }: TableRow): Problem {
  const field = nameOf(values, ['problem', 'Problem']);
  const question = values[field];
  if (typeof question !== 'string' || question.trim() === '') throw new UserError(`${where}: "${field}" is missing, empty or not a text`);
  const source = typeof values.data_source === 'string' && values.data_source !== '' ? values.data_source : sourceOf(where);
  const extra = typeof values.extra_info === 'string' ? parsed(values.extra_info) : values.extra_info;
  const id = idOf(values[nameOf(values, ['id', 'ID'])]) ?? (isRecord(extra) ? idOf(extra.index) : undefined);
  const tags = Object.entries({ domain: values.domain, ability: values.ability }).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return {
    id: id === undefined ? `${sourceOf(where)}:${number}` : `${source}:${id}`,
    question,
    ...goldOf(values, question, where),
    source,
    ...(tags.length > 0 && { tags: Object.fromEntries(tags) }),
  };
}

function goldOf(values: RowValues, question: string, where: string): Gold {
  if (values.reward_model !== undefined && values.reward_model !== null) {
    const { ground_truth: truth } = objectOf(values.reward_model, 'reward_model', where);
    return isRecord(truth) || (typeof truth === 'string' && /^\s*\{/.test(truth))
      ? testsGold(truth, where)
      : answerGold(truth, 'reward_model.ground_truth', question, where);
  }
  const answer = nameOf(values, ['answer', 'Answer']);
  if (values[answer] !== undefined && values[answer] !== null) return answerGold(values[answer], answer, question, where);
  return letterGold(values.solution, 'solution', where);
}

function writeRow(problem: Problem, original?: RowValues): Record<string, unknown> {
  if (original === undefined) return newRow(problem);
  const was = readRow({ number: 0, where: 'the original row', values: original });
  const changed: Record<string, unknown> = { ...original };
  if (problem.question !== was.question) changed[nameOf(original, ['problem', 'Problem'])] = problem.question;
  if (problem.kind === 'code') {
    if (JSON.stringify(problem.tests) !== JSON.stringify(was.tests)) {
      const model = { ...objectOf(original.reward_model, 'reward_model', 'the original row'), ground_truth: problem.tests };
      changed.reward_model = typeof original.reward_model === 'string' ? jsonText(model) : model;
    }
  } else if (problem.answer !== was.answer) {
    const field = nameOf(original, ['answer', 'Answer']);
    changed[original[field] === undefined || original[field] === null ? 'solution' : field] = problem.answer;
  }
  return changed;
}

function newRow(problem: Problem): Record<string, unknown> {
  const { kind = 'math', question, answer, source, tags, tests } = problem;
  const row: Record<string, unknown> = Object.fromEntries(Object.keys(COLUMNS).map((name) => [name, null]));
  Object.assign(row, { data_source: source ?? null, problem: question, domain: tags?.domain ?? null, ability: tags?.ability ?? null });
  if (kind === 'math') row.answer = answer ?? null;
  if (kind === 'choice') row.solution = answer ?? null;
  if (kind === 'code') {
    const truth = typeof tests === 'string' ? (parsed(tests) ?? tests) : tests;
    row.reward_model = jsonText({ ground_truth: truth, style: 'rule' });
    row.extra_info = JSON.stringify({ index: problem.id });
  }
  return row;
}
