/**
 * Text to token ids and back, from a model folder's `tokenizer.json`. Adds no special tokens of its own: chat templates write them. Does not
 * know chat formats (`chatFormat.ts`).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { UserError } from '../userError.js';

/** What the rooms above need of a tokenizer. */
export interface TokenCodec {
  encode(text: string): number[];
  decode(ids: readonly number[]): string;
}

export type TokenizerConfig = Readonly<Record<string, unknown>>;

interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

export class Tokenizer implements TokenCodec {
  readonly #inner: HuggingFaceTokenizer;
  /** Pieces are written in characters that stand for one byte each. */
  readonly #byteLevel: boolean;
  readonly #addedIds: ReadonlySet<number>;
  readonly #specialIds: ReadonlySet<number>;
  /** Texts that stand for one token and mean something to a chat format: special tokens and added ones in the form of tags. */
  readonly controlTokens: readonly string[];
  /** Texts of the special tokens. */
  readonly specialTokens: readonly string[];
  /** The most bytes of text that one token stands for; undefined where the vocabulary does not tell it. */
  readonly longestToken: number | undefined;

  /** @param tokenizer contents of `tokenizer.json`; @param config contents of `tokenizer_config.json` */
  constructor(
    tokenizer: object,
    readonly config: TokenizerConfig,
  ) {
    this.#inner = new HuggingFaceTokenizer(tokenizer, config);
    this.#byteLevel = JSON.stringify((tokenizer as { decoder?: unknown }).decoder ?? null).includes('"ByteLevel"');
    const added = (tokenizer as { added_tokens?: readonly AddedToken[] }).added_tokens ?? [];
    const special = added.filter((token) => token.special);
    this.#addedIds = new Set(added.map((token) => token.id));
    this.#specialIds = new Set(special.map((token) => token.id));
    this.specialTokens = special.map((token) => token.content);
    this.longestToken = this.#byteLevel ? longestOf(tokenizer, added) : undefined;
    this.controlTokens = added.filter((token) => token.special || /^<.+>$/.test(token.content)).map((token) => token.content);
  }

  /** @throws UserError when the folder has no readable tokenizer. */
  static async load(modelFolder: string): Promise<Tokenizer> {
    const tokenizer = await readJson(join(modelFolder, 'tokenizer.json'));
    if (tokenizer === undefined) {
      throw new UserError(
        `The model folder ${modelFolder} has no tokenizer.json.`,
        'Use a folder in Hugging Face form with tokenizer.json and tokenizer_config.json.',
      );
    }
    const config = (await readJson(join(modelFolder, 'tokenizer_config.json'))) ?? {};
    try {
      return new Tokenizer(tokenizer, config as TokenizerConfig);
    } catch (error) {
      throw new UserError(`The tokenizer in ${modelFolder} cannot be read: ${(error as Error).message}`);
    }
  }

  /** Special tokens written out in the text become their ids. A piece that the vocabulary cannot express is left out. */
  encode(text: string): number[] {
    if (text === '') return [];
    const ids: (number | undefined)[] = this.#inner.encode(text, { add_special_tokens: false }).ids;
    return ids.every((id) => id !== undefined) ? ids : ids.filter((id) => id !== undefined);
  }

  decode(ids: readonly number[], options: { readonly skipSpecial?: boolean } = {}): string {
    const kept = options.skipSpecial === true ? ids.filter((id) => !this.#specialIds.has(id)) : [...ids];
    return kept.length === 0 ? '' : this.#inner.decode(kept, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
  }

  /** The bytes that a token stands for: part of a character, where it is cut in two. */
  bytesOf(id: number): Uint8Array {
    const piece: string | undefined = this.isAdded(id) ? undefined : this.#inner.id_to_token(id);
    const fallback = piece === undefined ? null : /^<0x([0-9A-F]{2})>$/.exec(piece);
    if (fallback) return Uint8Array.of(Number.parseInt(fallback[1]!, 16));
    if (piece !== undefined && this.#byteLevel) {
      const bytes = Array.from(piece, (character: string) => BYTE_OF.get(character));
      if (bytes.every((byte) => byte !== undefined)) return Uint8Array.from(bytes);
    }
    return new TextEncoder().encode(this.decode([id]));
  }

  idOf(token: string): number | undefined {
    return this.#inner.token_to_id(token);
  }

  isSpecial(id: number): boolean {
    return this.#specialIds.has(id);
  }

  /** Whether the token stands beside the trained vocabulary, special or not. */
  isAdded(id: number): boolean {
    return this.#addedIds.has(id);
  }

  /** The text of a named token of the configuration, for example `eos_token`. */
  namedToken(name: 'bos_token' | 'eos_token' | 'pad_token' | 'unk_token'): string | undefined {
    const value = this.config[name];
    if (typeof value === 'string') return value;
    const content = (value as { content?: unknown } | null | undefined)?.content;
    return typeof content === 'string' ? content : undefined;
  }
}

/** Each character of a byte-level piece stands for one byte. A normalizer may shorten the text before it is cut into pieces. */
function longestOf(tokenizer: object, added: readonly AddedToken[]): number | undefined {
  const { model, normalizer } = tokenizer as { model?: { vocab?: unknown }; normalizer?: { type?: unknown } | null };
  const shrinks = normalizer == null ? 1 : normalizer.type === 'NFC' ? 3 : undefined;
  if (shrinks === undefined || typeof model?.vocab !== 'object' || model.vocab === null) return undefined;
  let longest = 0;
  for (const piece of Object.keys(model.vocab)) longest = Math.max(longest, piece.length);
  for (const { content } of added) longest = Math.max(longest, Buffer.byteLength(content));
  return longest * shrinks;
}

/** Of byte-level vocabularies: printable characters stand for themselves, the other bytes for characters from U+0100 on. */
const BYTE_OF: ReadonlyMap<string, number> = (() => {
  const printable = (byte: number): boolean => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return new Map(Array.from({ length: 256 }, (_, byte) => [String.fromCodePoint(printable(byte) ? byte : next++), byte]));
})();

/** Undefined where there is no such file. @throws UserError where it is not JSON. */
export async function readJson(file: string): Promise<object | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UserError(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text) as object;
  } catch (error) {
    throw new UserError(`${file} is not valid JSON: ${(error as Error).message}`);
  }
}
