/**
 * Answers of one rollout joined into lines of tokens: one whose prompt goes on from a line's tokens makes that line longer, any other begins
 * a line of its own. Keeps ids and log-probs as they were sampled. Knows no messages.
 */
import type { Branch } from '../domain/trajectory.js';
import type { Turn } from '../domain/turn.js';
import type { Sample } from '../engine/sampler.js';

interface Line {
  readonly promptTokens: readonly number[];
  readonly tokens: number[];
  readonly mask: number[];
  readonly logProbs: number[];
  readonly turns: (() => Turn)[];
}

export class Lines {
  readonly #lines: Line[] = [];

  /** Lines so far. */
  get count(): number {
    return this.#lines.length;
  }

  /** Tokens after the prompts, in all lines. */
  get length(): number {
    return this.#lines.reduce((sum, { tokens }) => sum + tokens.length, 0);
  }

  /** Tokens of a prompt that come new to the line that it goes on from; undefined where it begins a line. */
  newIn(prompt: readonly number[]): number | undefined {
    const line = this.#before(prompt);
    return line && prompt.length - lengthOf(line);
  }

  /** @param turn asked for at the end, when what came back for its calls is known */
  add(prompt: readonly number[], { tokens, logProbs }: Pick<Sample, 'tokens' | 'logProbs'>, turn: () => Turn): void {
    let line = this.#before(prompt);
    if (line === undefined) {
      line = { promptTokens: prompt, tokens: [], mask: [], logProbs: [], turns: [] };
      this.#lines.push(line);
    }
    for (const id of prompt.slice(lengthOf(line))) put(line, id, 0, 0);
    for (const [i, id] of tokens.entries()) put(line, id, 1, logProbs[i]!);
    line.turns.push(turn);
  }

  branches(): Branch[] {
    return this.#lines.map(({ promptTokens, tokens, mask, logProbs, turns }) => ({
      ...{ promptTokens, tokens, mask, samplerLogProbs: logProbs },
      turns: turns.map((turn) => turn()),
    }));
  }

  /** The longest line that the prompt begins with. */
  #before(prompt: readonly number[]): Line | undefined {
    let longest: Line | undefined;
    for (const line of this.#lines) {
      if (beginsWith(prompt, line) && (longest === undefined || lengthOf(line) > lengthOf(longest))) longest = line;
    }
    return longest;
  }
}

const lengthOf = ({ promptTokens, tokens }: Line): number => promptTokens.length + tokens.length;

function beginsWith(prompt: readonly number[], line: Line): boolean {
  const { promptTokens, tokens } = line;
  if (prompt.length < lengthOf(line)) return false;
  return promptTokens.every((id, i) => id === prompt[i]) && tokens.every((id, i) => id === prompt[promptTokens.length + i]);
}

function put(line: Line, id: number, bit: 0 | 1, logProb: number): void {
  line.tokens.push(id);
  line.mask.push(bit);
  line.logProbs.push(logProb);
}
