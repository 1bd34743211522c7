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

/** Text of each token; a character that is split over tokens stands with the last of them. Bytes that are no character are marked. */
export function textsOf(ids: readonly number[], tokenizer: Pick<Tokenizer, 'decode'>): string[] {
  const alone = new Map<number, string>();
  // some tokenizers drop the space before the first token: none of ours is the first
  const anchor = ids.find((id) => /^[A-Za-z0-9]+$/.test(decodeOr(BROKEN, [id], tokenizer)));
  const before = anchor === undefined ? [] : [anchor];
  const skipped = decodeOr('', before, tokenizer).length;
  const decode = (part: readonly number[]): string => {
    const known = part.length === 1 ? alone.get(part[0]!) : undefined;
    if (known !== undefined) return known;
    const text = decodeOr(`${' '.repeat(skipped)}${BROKEN}`, [...before, ...part], tokenizer).slice(skipped);
    if (part.length === 1) alone.set(part[0]!, text);
    return text;
  };
  const texts: string[] = [];
  /** Tokens whose last character is not whole yet, the last ones of `texts`; and what of them is given already. */
  let pending: number[] = [];
  let given = '';
  for (const id of ids) {
    pending.push(id);
    const text = decode(pending);
    const first = texts.length + 1 - pending.length;
    if (!text.endsWith(BROKEN)) {
      let piece = text.slice(given.length);
      for (let i = first; i < texts.length && piece.startsWith(BROKEN); i++) {
        texts[i] += BROKEN;
        piece = piece.slice(BROKEN.length);
      }
      texts.push(piece);
      pending = [];
      given = '';
    } else {
      const whole = text.replace(/\ufffd+$/, '');
      texts.push(whole.slice(given.length));
      given = whole.length > given.length ? whole : given;
      if (pending.length < LONGEST_CHARACTER) continue;
      texts[first] += BROKEN;
      pending = pending.slice(1);
      given = '';
    }
  }
  for (let i = texts.length - pending.length; i < texts.length; i++) texts[i] += BROKEN;
  return texts;
}

function decodeOr(otherwise: string, ids: readonly number[], tokenizer: Pick<Tokenizer, 'decode'>): string {
  try {
    return tokenizer.decode(ids);
  } catch {
    // an id that the tokenizer does not have
    return otherwise;
  }
}
