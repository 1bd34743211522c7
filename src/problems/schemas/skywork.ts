/** Skywork-OR1: `train-math-*`, whose ground truth is the JSON text of a list of right answers, and `train-code-*`. */
import { CHAT_COLUMNS, type ChatStyle, hasChatColumns, readChatRow, writeChatRow } from './chatRow.js';
import { isRecord } from './fields.js';
import type { Schema } from './schema.js';

const STYLE: ChatStyle = { style: 'rule', ability: { math: 'math', choice: 'math', code: 'code' } };

export const skywork: Schema = {
  name: 'skywork-or1',
  title: 'Skywork-OR1, mathematics and code, with the difficulty for three models',
  columns: CHAT_COLUMNS,
  matches: (columns, { data_source: source, extra_info: extra }) =>
    hasChatColumns(columns) &&
    typeof source === 'string' &&
    /^(train|test)-(math|code)-/.test(source) &&
    isRecord(extra) &&
    'model_difficulty' in extra,
  read: readChatRow,
  write: (problem, original) => {
    const row = writeChatRow(problem, original, STYLE);
    if (original !== undefined || problem.kind === 'code' || problem.answer === undefined) return row;
    const { reward_model: model } = row as { readonly reward_model: { readonly ground_truth: string } };
    const listed = model.ground_truth.startsWith('["') ? model.ground_truth : JSON.stringify([problem.answer]);
    return { ...row, reward_model: { ...model, ground_truth: listed } };
  },
};
