/** What one assistant turn consists of, in order. Made once, by `chat/parseTurn.ts`; everything after reads segments. */
export type Segment = ThinkingSegment | TextSegment | CallSegment | MalformedCallSegment | CutOffCallSegment;

export interface ThinkingSegment {
  readonly kind: 'thinking';
  readonly text: string;
}

export interface TextSegment {
  readonly kind: 'text';
  readonly text: string;
}

export interface CallSegment {
  readonly kind: 'call';
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What had to be mended to read the call, for example a raw newline inside a JSON string. Empty where nothing was. */
  readonly repairs: readonly string[];
}

/** A call that cannot be read; `problem` is worded for the model. */
export interface MalformedCallSegment {
  readonly kind: 'malformedCall';
  readonly raw: string;
  readonly problem: string;
}

/** A call that the token limit cut. */
export interface CutOffCallSegment {
  readonly kind: 'cutOffCall';
  readonly raw: string;
}
