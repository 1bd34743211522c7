/** DAPO-Math-17k: every row from `math_dapo`, with instructions around the question that ask for a last line `Answer: …`. */
import { asksForAnswerLine, CHAT_COLUMNS, type ChatStyle, hasChatColumns, readChatRow, writeChatRow } from './chatRow.js';
import type { Schema } from './schema.js';

const STYLE: ChatStyle = { style: 'rule-lighteval/MATH_v2', ability: { math: 'MATH', choice: 'MATH', code: 'CODE' } };

export const dapoMath: Schema = {
  name: 'dapo-math-17k',
  title: 'DAPO-Math-17k: whole-number answers, instructions around each question',
  columns: CHAT_COLUMNS,
  matches: (columns, { data_source: source, prompt }) =>
    hasChatColumns(columns) && source === 'math_dapo' && Array.isArray(prompt) && asksForAnswerLine(prompt.at(-1)?.content),
  read: readChatRow,
  write: (problem, original) => writeChatRow(problem, original, STYLE),
};
