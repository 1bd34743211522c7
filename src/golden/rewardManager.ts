/** The vectors of whole reward managers: final text, verdict, tool bonus and overlong penalty, with one token a character. */
import { overlongPenalty } from '../algorithm/overlong.js';
import { toolBonus } from '../algorithm/toolBonus.js';
import { finalText, parseTurn } from '../chat/parseTurn.js';
import { lastBoxed } from '../reward/extract.js';
import { gradeAnswer } from '../reward/math/gradeAnswer.js';
import { overlongLimits } from './algorithms.js';
import { asNumber, type Inputs, isRecord, list, VectorError } from './vector.js';

/**
 * Follows the released bonus rule (wrong answers only), as the vectors do. `score` is before, `reward` after the penalty, which counts the
 * model's tokens; a response as long as the limit was cut by it.
 */
export function rewardManager(inputs: Inputs, overlong: boolean): unknown {
  const segments = list(inputs, 'segments').map((segment) => {
    if (!isRecord(segment) || typeof segment.text !== 'string') throw new VectorError('a segment has no text');
    return { text: segment.text, fromModel: segment.fromModel === true };
  });
  const length = (own: readonly { readonly text: string }[]): number => own.reduce((sum, { text }) => sum + Array.from(text).length, 0);
  const lastTool = segments.findLastIndex((segment) => !segment.fromModel);
  const lastTurn = segments
    .slice(lastTool + 1)
    .map(({ text }) => text)
    .join('');
  const answer = lastBoxed(finalText(parseTurn(lastTurn.replace(/(?:<\|im_end\|>|<\|endoftext\|>)\s*$/, ''))));
  const verdict = gradeAnswer(answer, String(inputs.groundTruth));
  const turns = asNumber(inputs.numTurns);
  const calls = turns === undefined ? 0 : Math.max(0, (turns - 2) / 2);
  const score = (verdict.correct ? 1 : -1) + toolBonus(calls, verdict.correct, { wrongOnly: true });
  const total = length(segments);
  let penalty = 0;
  if (overlong && inputs.bufferLength !== undefined && inputs.enabled !== false) {
    const limits = overlongLimits(inputs);
    penalty = overlongPenalty(length(segments.filter(({ fromModel }) => fromModel)), limits, total >= limits.maxTokens);
  }
  return { reward: score + penalty, rewardIndex: total > 0 ? total - 1 : null, score, acc: verdict.correct, pred: verdict.extracted ?? '' };
}
