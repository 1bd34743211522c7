/** A rollout token by token: ids, texts, mask, log-probs. Texts come from the tokenizer of the model's folder, while it is there. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Tokenizer } from '../../chat/tokenizer.js';
import type { TrajectoryRecord } from '../../domain/event.js';
import type { Branch } from '../../domain/trajectory.js';
import type { TokenLine, TokenList, TokensView } from '../api.js';
import type { RunView } from './runView.js';

/** Several, since each takes tens of megabytes; the least lately used goes. */
const MOST_TOKENIZERS = 3;

interface Loaded {
  readonly stamp: number;
  readonly tokenizer: Promise<Tokenizer>;
}

export class Tokenizers {
  readonly #loaded = new Map<string, Loaded>();

  /** Of the run's model; a string says why there is none. */
  async of(view: RunView): Promise<Tokenizer | string> {
    const folder = view.info()?.model?.path;
    if (typeof folder !== 'string') return 'The run does not say where its model is, so tokens have no texts here.';
    try {
      const { mtimeMs } = await stat(join(folder, 'tokenizer.json'));
      const known = this.#loaded.get(folder);
      this.#loaded.delete(folder);
      const loaded = known?.stamp === mtimeMs ? known : { stamp: mtimeMs, tokenizer: Tokenizer.load(folder) };
      this.#loaded.set(folder, loaded);
      for (const old of this.#loaded.keys()) {
        if (this.#loaded.size <= MOST_TOKENIZERS) break;
        this.#loaded.delete(old);
      }
      return await loaded.tokenizer;
    } catch (error) {
      this.#loaded.delete(folder);
      const gone = (error as { code?: unknown }).code === 'ENOENT';
      return gone
        ? `There is no tokenizer in ${folder} any more, so tokens have no texts here.`
        : `The tokenizer in ${folder} cannot be read, so tokens have no texts here: ${(error as Error).message}`;
    }
  }
}

export async function viewTokens(view: RunView, record: TrajectoryRecord, tokenizers: Tokenizers): Promise<TokensView> {
  const found = await tokenizers.of(view);
  const list = (ids: readonly number[]): TokenList =>
    typeof found === 'string' ? { ids } : { ids, texts: textsOf(ids, found), special: ids.map((id) => found.isSpecial(id)) };
  const line = ({ promptTokens, tokens, mask, samplerLogProbs }: Tokens, ratios: readonly number[] | undefined): TokenLine => ({
    prompt: list(promptTokens),
    response: { ...list(tokens), mask, logProbs: samplerLogProbs, ...(ratios && { ratios }) },
  });
  const { trajectory, advantage, ratios, branchRatios } = record;
  return {
    ...line(trajectory, ratios),
    ...(trajectory.branches && { branches: trajectory.branches.map((branch, i) => line(branch, branchRatios?.[i])) }),
    ...(advantage !== undefined && { advantage }),
    ...(typeof found === 'string' && { note: found }),
  };
}

type Tokens = Omit<Branch, 'turns'>;

/** Bytes of one character at most. */
const LONGEST_CHARACTER = 4;
const BROKEN = '\ufffd';

/** Text of each token; where a character is split over tokens it stands with the last of them, and the ones before have none. */
export function textsOf(ids: readonly number[], tokenizer: Pick<Tokenizer, 'decode'>): string[] {
  const alone = new Map<number, string>();
  const decode = (part: readonly number[]): string => {
    try {
      return tokenizer.decode(part);
    } catch {
      return BROKEN;
    }
  };
  const texts: string[] = [];
  let pending: number[] = [];
  for (const id of ids) {
    if (pending.length === 0) {
      let text = alone.get(id);
      if (text === undefined) {
        text = decode([id]);
        alone.set(id, text);
      }
      if (!text.endsWith(BROKEN)) {
        texts.push(text);
        continue;
      }
    }
    pending.push(id);
    const text = decode(pending);
    if (!text.endsWith(BROKEN)) {
      texts.push(text);
      pending = [];
    } else if (pending.length >= LONGEST_CHARACTER) {
      // bytes that are no character: the first is given up
      texts[texts.length - (pending.length - 1)] = BROKEN;
      texts.push('');
      pending.shift();
    } else texts.push('');
  }
  for (let i = 0; i < pending.length; i++) texts[texts.length - pending.length + i] = BROKEN;
  return texts;
}
