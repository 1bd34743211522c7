/**
 * Reads one assistant turn into segments, in order. Hermes form: <think>…</think>, text, <tool_call>{JSON}</tool_call>.
 * Never throws, and takes time linear in the turn: what a model writes is data. Does not run tools, and does not know which exist.
 */
import type { CallSegment, MalformedCallSegment, Segment } from '../domain/segment.js';

const CALL_CLOSE = '</tool_call>';
const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';

/** A tag, and how many JSON quotes stand before it: an odd number between two tags means that the second is inside a string. */
interface Tag {
  readonly tag: string;
  readonly start: number;
  readonly end: number;
  readonly quotes: number;
}

/**
 * - What stands before a `</think>` is thinking, calls included: back to its `<think>`, or where there is none to the end of the thinking
 *   before or to the start (the prompt opened it). A `<think>` that never ends makes the rest thinking.
 * - A tag inside a JSON string of a call is part of the string, where the call can be read so.
 * - A call without its closing tag is cut off where the turn ran into its token limit, and malformed elsewhere.
 *
 * @param atTokenLimit whether the turn ended because it ran out of tokens
 */
export function parseTurn(turn: string, atTokenLimit = false): Segment[] {
  const tags = findTags(turn);
  const nextThinkClose = nextOf(tags, THINK_CLOSE);
  const nextCallClose = nextOf(tags, CALL_CLOSE);
  const nextThinkCloseOutside = nextOutside(tags, THINK_CLOSE);
  const reader = new CallReader(turn, tags, nextCallClose);
  const segments: Segment[] = [];
  /** Where what may still turn out to be thinking begins: in the turn, and in `segments`. */
  let regionStart = 0;
  let regionSegments = 0;
  let at = 0;
  let i = 0;

  const thinkingUntil = (end: number): void => {
    segments.length = regionSegments;
    pushText(segments, 'thinking', turn.slice(regionStart, end));
  };
  const newRegion = (from: number): void => {
    regionStart = from;
    regionSegments = segments.length;
    at = from;
  };

  while (i < tags.length) {
    const tag = tags[i]!;
    if (tag.tag === CALL_CLOSE) {
      i++;
    } else if (tag.tag === THINK_CLOSE) {
      thinkingUntil(tag.start);
      newRegion(tag.end);
      i++;
    } else if (tag.tag === THINK_OPEN) {
      pushText(segments, 'text', turn.slice(at, tag.start));
      newRegion(tag.end);
      const close = nextThinkClose[i]!;
      if (close === tags.length) {
        thinkingUntil(turn.length);
        return segments;
      }
      i = close;
    } else {
      const call = reader.read(i);
      if (call.kind === 'unreadable') {
        const thinkClose = (beginsAsObject(turn, tag.end) ? nextThinkCloseOutside : nextThinkClose)[i]!;
        if (thinkClose < call.close) {
          i = thinkClose;
          continue;
        }
      }
      pushText(segments, 'text', turn.slice(at, tag.start));
      if (call.close === tags.length) {
        const raw = turn.slice(tag.end).trim();
        segments.push(atTokenLimit ? { kind: 'cutOffCall', raw } : malformed(raw, `The tool call has no ${CALL_CLOSE}.`));
        return segments;
      }
      segments.push(call.segment);
      at = tags[call.close]!.end;
      i = call.close + 1;
    }
  }
  pushText(segments, 'text', turn.slice(at));
  return segments;
}

/** What is graded: the assistant's text after its last call and its last thinking; empty where there is none. */
export function finalText(segments: readonly Segment[]): string {
  const last = segments.findLastIndex((segment) => segment.kind !== 'text');
  return segments
    .slice(last + 1)
    .map((segment) => (segment.kind === 'text' ? segment.text : ''))
    .join('\n');
}

type FoundCall =
  | { readonly kind: 'read'; readonly close: number; readonly segment: CallSegment }
  | { readonly kind: 'unreadable'; readonly close: number; readonly segment: MalformedCallSegment };

/** Finds where a call ends and reads it. `close` is the index of its closing tag, or the number of tags where it has none. */
class CallReader {
  readonly #turn: string;
  readonly #tags: readonly Tag[];
  readonly #nextClose: readonly number[];
  /** The next closing tag with the same parity of quotes before it, by index. */
  readonly #nextCloseOutside: readonly number[];
  /** Characters that failed attempts may still cost: keeps the whole linear. */
  #budget: number;

  constructor(turn: string, tags: readonly Tag[], nextClose: readonly number[]) {
    this.#turn = turn;
    this.#tags = tags;
    this.#nextClose = nextClose;
    this.#nextCloseOutside = nextOutside(tags, CALL_CLOSE);
    this.#budget = 8 * turn.length + 1024;
  }

  read(open: number): FoundCall {
    const first = this.#nextClose[open]!;
    const outside = this.#nextCloseOutside[open]!;
    if (outside !== first && outside !== this.#tags.length) {
      const whole = this.#body(open, outside);
      if (whole.kind === 'call') return { kind: 'read', close: outside, segment: whole };
    }
    if (first === this.#tags.length) return { kind: 'unreadable', close: first, segment: malformed('', '') };
    const segment = this.#body(open, first);
    return segment.kind === 'call' ? { kind: 'read', close: first, segment } : { kind: 'unreadable', close: first, segment };
  }

  #body(open: number, close: number): CallSegment | MalformedCallSegment {
    const raw = this.#turn.slice(this.#tags[open]!.end, this.#tags[close]!.start);
    if (raw.length > this.#budget) return malformed(raw.trim(), 'The tool call cannot be read.');
    const segment = readCall(raw);
    if (segment.kind !== 'call') this.#budget -= raw.length;
    return segment;
  }
}

function readCall(raw: string): CallSegment | MalformedCallSegment {
  const repairs: string[] = [];
  const value = parseJson(raw, repairs);
  if (value === undefined) return malformed(raw.trim(), 'The tool call is not valid JSON.');
  if (!isRecord(value)) return malformed(raw.trim(), 'The tool call is not a JSON object.');
  const { name } = value;
  if (typeof name !== 'string') return malformed(raw.trim(), 'The tool call has no "name".');
  let args = value.arguments;
  if (typeof args === 'string') {
    args = parseJson(args, repairs);
    repairs.push('arguments given as text');
  }
  if (!isRecord(args)) return malformed(raw.trim(), 'The tool call has no "arguments" object.');
  return { kind: 'call', name, arguments: args, repairs };
}

/** Undefined where the text is no JSON, even when raw control characters inside strings are mended. */
function parseJson(text: string, repairs: string[]): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const mended = escapeRawControls(text);
    if (mended.repairs.length === 0) return undefined;
    try {
      const value: unknown = JSON.parse(mended.text);
      repairs.push(...mended.repairs);
      return value;
    } catch {
      return undefined;
    }
  }
}

/** Models write code with real line breaks inside JSON strings. */
function escapeRawControls(text: string): { readonly text: string; readonly repairs: readonly string[] } {
  const repairs = new Set<string>();
  let mended = '';
  let copied = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) inString = !inString;
    else if (!inString) continue;
    else if (code === BACKSLASH) i++;
    else if (code < 0x20) {
      mended += text.slice(copied, i) + escapeControl(code);
      copied = i + 1;
      repairs.add(code === 0x0a || code === 0x0d ? 'raw newline in a string' : 'raw control character in a string');
    }
  }
  return { text: mended + text.slice(copied), repairs: [...repairs] };
}

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);

const escapeControl = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;

function findTags(turn: string): Tag[] {
  const tags: Tag[] = [];
  let quotes = 0;
  for (const match of turn.matchAll(/\\[\\"]|"|<\/?(?:tool_call|think)>/g)) {
    const [tag] = match;
    if (tag === '"') quotes++;
    else if (tag.startsWith('<')) tags.push({ tag, start: match.index, end: match.index + tag.length, quotes });
  }
  return tags;
}

/** For each tag the index of the next one after it of this kind; the number of tags where there is none. */
function nextOf(tags: readonly Tag[], kind: string): number[] {
  const next = new Array<number>(tags.length);
  let found = tags.length;
  for (let i = tags.length - 1; i >= 0; i--) {
    next[i] = found;
    if (tags[i]!.tag === kind) found = i;
  }
  return next;
}

/** As `nextOf`, leaving out what is inside a JSON string that began after the tag. */
function nextOutside(tags: readonly Tag[], kind: string): number[] {
  const next = new Array<number>(tags.length);
  const found = [tags.length, tags.length];
  for (let i = tags.length - 1; i >= 0; i--) {
    const parity = tags[i]!.quotes % 2;
    next[i] = found[parity]!;
    if (tags[i]!.tag === kind) found[parity] = i;
  }
  return next;
}

/** Whether a JSON object with a key seems to begin here, rather than a tag mentioned in a sentence. */
function beginsAsObject(text: string, from: number): boolean {
  const begin = /\s*\{\s*"/y;
  begin.lastIndex = from;
  return begin.test(text);
}

function pushText(segments: Segment[], kind: 'text' | 'thinking', text: string): void {
  const trimmed = text.trim();
  if (trimmed !== '') segments.push({ kind, text: trimmed });
}

const malformed = (raw: string, problem: string): MalformedCallSegment => ({ kind: 'malformedCall', raw, problem });

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
