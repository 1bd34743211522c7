/**
 * A turn's text while its tokens come: only what is certain is handed out. A character that is cut in two, what may become a stop string, and
 * the token that ends the turn are held back. Does not know what the text means (`turnStream.ts`).
 */
import type { ChatFormat } from '../chat/chatFormat.js';

type Decoder = Pick<ChatFormat, 'decode' | 'isStop'>;

/** Tokens before the new ones that are decoded with them: decoders treat the first of a text in their own way. */
const CONTEXT = 6;

export class TurnText {
  readonly #tokens: number[] = [];
  /** Tokens whose text is in `#text`. */
  #read = 0;
  #text = '';
  #given = 0;
  #cut = false;

  constructor(
    private readonly decoder: Decoder,
    private readonly stops: readonly string[] = [],
  ) {}

  /** More tokens; gives the text that is now certain. */
  push(tokens: readonly number[]): string {
    for (const token of tokens) if (!this.decoder.isStop(token)) this.#tokens.push(token);
    if (this.#cut || this.#tokens.length === this.#read) return '';
    const from = Math.max(0, this.#read - CONTEXT);
    const known = this.decoder.decode(this.#tokens.slice(from, this.#read));
    const more = this.decoder.decode(this.#tokens.slice(from));
    if (more.endsWith('\uFFFD') || !more.startsWith(known)) return '';
    this.#text += more.slice(known.length);
    this.#read = this.#tokens.length;
    const at = firstOf(this.#text, this.stops, this.#given);
    if (at !== -1) {
      this.#cut = true;
      return this.#give(at);
    }
    return this.#give(this.#text.length - heldBack(this.#text, this.stops));
  }

  /** The rest, once the whole turn is known. @param turn as `turnTextOf` gives it */
  end(turn: string): string {
    return turn.slice(this.#given);
  }

  #give(end: number): string {
    if (end <= this.#given) return '';
    const part = this.#text.slice(this.#given, end);
    this.#given = end;
    return part;
  }
}

/** The text of a sampled turn without its end-of-turn token, and up to a stop string. */
export function turnTextOf(decoder: Decoder, tokens: readonly number[], stops: readonly string[] = []): string {
  const ended = tokens.length > 0 && decoder.isStop(tokens.at(-1)!);
  const text = decoder.decode(ended ? tokens.slice(0, -1) : tokens);
  const at = firstOf(text, stops, 0);
  return at === -1 ? text : text.slice(0, at);
}

/** Where the first of these begins; -1 where none is. */
function firstOf(text: string, wanted: readonly string[], from: number): number {
  const found = wanted.map((stop) => text.indexOf(stop, from)).filter((at) => at !== -1);
  return found.length === 0 ? -1 : Math.min(...found);
}

/** Characters at the end of the text that one of these may begin with. */
export function heldBack(text: string, wanted: readonly string[]): number {
  let most = 0;
  for (const stop of wanted) {
    for (let length = Math.min(stop.length - 1, text.length); length > most; length--) {
      if (text.endsWith(stop.slice(0, length))) {
        most = length;
        break;
      }
    }
  }
  return most;
}
