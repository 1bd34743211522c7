/** Table 2 of the paper, in percent. A missing cell is undefined. */
import type { EvalMode, PublishedScore } from './benchmark.js';

type Column = 'aime24' | 'aime25' | 'gpqa' | 'livecodebench';
type Cells = readonly [number?, number?, number?, number?];

const COLUMNS: readonly Column[] = ['aime24', 'aime25', 'gpqa', 'livecodebench'];

const ROWS: readonly (readonly [model: string, mode: EvalMode, cells: Cells, selfEvaluated?: readonly Column[]])[] = [
  ['Qwen2.5-7B-Instruct', 'plain', [16.7, 10.0, 31.3, 15.2], ['aime24', 'aime25', 'gpqa']],
  ['Qwen3-4B-Instruct-2507', 'plain', [63.3, 47.4, 52.0, 35.1], ['aime24', 'gpqa']],
  ['Qwen2.5-72B-Instruct', 'plain', [18.9, 15.0, 49.0]],
  ['DeepSeek-V3', 'plain', [39.2, 28.8, 59.1, 16.1]],
  ['DeepSeek-R1-Distill-32B', 'plain', [70.0, 46.7, 59.6]],
  ['DeepSeek-R1-Zero 671B', 'plain', [71.0, 53.5, 59.6]],
  ['Qwen2.5-7B-Instruct', 'agentic', [4.8, 5.6, 25.5, 12.2]],
  ['Qwen3-4B-Instruct-2507', 'agentic', [17.9, 16.3, 44.3, 23.0]],
  ['ToRL-7B', 'agentic', [43.3, 30.0]],
  ['ReTool-32B', 'agentic', [72.5, 54.3]],
  ['Tool-Star-3B', 'agentic', [20.0, 16.7]],
  ['ARPO-7B', 'agentic', [30.0, 30.0, 53.0, 18.3]],
  ['rStar2-Agent-14B', 'agentic', [80.6, 69.8, 60.9]],
  ['DemyAgent-4B', 'agentic', [72.6, 70.0, 58.5, 26.8]],
];

export function publishedScores(column: Column): PublishedScore[] {
  const at = COLUMNS.indexOf(column);
  return ROWS.flatMap(([model, mode, cells, self]) => {
    const score = cells[at];
    return score === undefined ? [] : [{ model, mode, score, ...(self?.includes(column) && { selfEvaluated: true }) }];
  });
}
