/** Open-AgentRL's RL set, a mixture by row: `math_dapo`, `mega-science`, `train-math-*`, `train-code-taco-*`, `train-code-leetcode-*`. */
import { CHAT_COLUMNS, type ChatStyle, hasChatColumns, readChatRow, writeChatRow } from './chatRow.js';
import type { Schema } from './schema.js';

const STYLE: ChatStyle = { style: 'rule', ability: { math: 'MATH', choice: 'SCIENCE', code: 'CODE' } };

export const openAgentRl: Schema = {
  name: 'open-agentrl-rl',
  title: 'Open-AgentRL-30K, and other sets for verl: data_source, prompt, ability, reward_model, extra_info',
  columns: CHAT_COLUMNS,
  matches: hasChatColumns,
  read: readChatRow,
  write: (problem, original) => writeChatRow(problem, original, STYLE),
};
