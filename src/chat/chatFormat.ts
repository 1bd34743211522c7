/**
 * A model's chat format in tokens: the prompt, what stands between two of the model's turns, and demonstrations. Everything is what the
 * template renders for a whole conversation, less what stood before; a sampled turn is never rendered again. Does not parse turns.
 */
import type { Demonstration } from '../domain/demonstration.js';
import type { Message } from '../domain/message.js';
import type { ToolDescription } from '../tools/jsonSchema.js';
import { UserError } from '../userError.js';
import { ChatTemplate, type TemplateMessage } from './chatTemplate.js';
import { writeCall, writeToolList, writeToolResponse } from './hermes.js';
import { readStopTokens } from './stopTokens.js';
import { inspectTemplate, type TemplateTraits } from './templateTraits.js';
import { type TokenCodec, Tokenizer } from './tokenizer.js';

/** Who describes the tools: the template, our system text, nobody; `auto` is the template where it can, else the system text. */
export type ToolPlacement = 'auto' | 'template' | 'system' | 'omit';

/** Texts that stand around n replies: pieces[0] reply pieces[1] reply ... pieces[n]. */
type Pieces = readonly string[];

export class ChatFormat implements TokenCodec {
  /** A turn ends at any of these; the first is the template's own end of turn. */
  readonly stopTokenIds: readonly number[];
  /** Whether a turn begins inside thinking that its header opened. */
  readonly opensThinking: boolean;
  /** What a person should know about this template, in plain words. */
  readonly notes: readonly string[];
  readonly #tokenizer: Tokenizer;
  readonly #template: ChatTemplate;
  readonly #traits: TemplateTraits;
  readonly #placement: Exclude<ToolPlacement, 'auto'>;
  readonly #closing: readonly number[];
  readonly #stops: ReadonlySet<number>;
  readonly #toolPieces = new Map<number, Pieces>();
  readonly #toldTools = new WeakMap<ToolDescription, ToolDescription>();
  readonly #control: RegExp | undefined;
  readonly #special: RegExp | undefined;

  private constructor(
    tokenizer: Tokenizer,
    template: ChatTemplate,
    traits: TemplateTraits,
    generationStops: readonly number[],
    tools: ToolPlacement,
  ) {
    this.#tokenizer = tokenizer;
    this.#template = template;
    this.#traits = traits;
    if (tools === 'template' && !traits.describesTools) {
      throw new UserError('prompt.tools is "template", but the chat template does not print tools.', 'Use auto or system.');
    }
    this.#placement = tools === 'auto' ? (traits.describesTools ? 'template' : 'system') : tools;
    this.#closing = tokenizer.encode(traits.turnEnd);
    this.stopTokenIds = [...new Set([this.#closing.at(-1)!, ...generationStops])];
    this.#stops = new Set(this.stopTokenIds);
    this.opensThinking = traits.opensThinking;
    this.notes = [...traits.notes, ...placementNotes(tools, this.#placement, traits), ...this.#resultNotes()];
    this.#control = alternatives(tokenizer.controlTokens);
    this.#special = alternatives(tokenizer.specialTokens);
  }

  /** @throws UserError when the folder lacks a tokenizer or a usable chat template. */
  static async load(modelFolder: string, options: { readonly tools?: ToolPlacement } = {}): Promise<ChatFormat> {
    const tokenizer = await Tokenizer.load(modelFolder);
    const template = await ChatTemplate.load(modelFolder, tokenizer);
    const generationStops = await readStopTokens(modelFolder, tokenizer);
    return new ChatFormat(tokenizer, template, inspectTemplate(template, tokenizer), generationStops, options.tools ?? 'auto');
  }

  encode(text: string): number[] {
    return this.#tokenizer.encode(text);
  }

  /** Special tokens are written out. */
  decode(ids: readonly number[]): string {
    return this.#tokenizer.decode(ids);
  }

  /** The bytes of one token; those of a character may be shared out among several. */
  bytesOf(id: number): Uint8Array {
    return this.#tokenizer.bytesOf(id);
  }

  /** No fewer tokens than a text of so many bytes has: known without tokenising it, and far too low for most texts. */
  leastTokens(bytes: number): number {
    const { longestToken } = this.#tokenizer;
    return longestToken === undefined ? 0 : Math.ceil(bytes / longestToken);
  }

  isStop(id: number): boolean {
    return this.#stops.has(id);
  }

  /** The ids up to where the assistant begins to write. */
  prompt(messages: readonly Message[], tools: readonly ToolDescription[]): number[] {
    return this.encode(this.promptText(messages, tools));
  }

  promptText(messages: readonly Message[], tools: readonly ToolDescription[]): string {
    const told = this.#placement === 'omit' ? [] : tools.map((tool) => this.#told(tool));
    const placed = this.#placement === 'system' && told.length > 0 ? withToolList(messages, told) : messages;
    return this.#template.render(this.#forTemplate(placed), true, this.#placement === 'template' ? told : []);
  }

  /**
   * Everything between the end-of-turn token that the model sampled and its next content: the rest of the turn's end, the replies, the
   * header of the next turn. Control tokens written out in a reply are broken up first (`neutralise`).
   */
  continuation(replies: readonly string[]): number[] {
    return this.encode(this.continuationText(replies));
  }

  continuationText(replies: readonly string[]): string {
    const pieces = this.#piecesFor(replies.length);
    let text = pieces[0]!;
    for (let i = 0; i < replies.length; i++) text += this.neutralise(replies[i]!) + pieces[i + 1]!;
    return text;
  }

  /** As `continuation`, for any messages that follow a turn; texts go in as they are where not all are tool results. */
  following(messages: readonly Message[]): number[] {
    if (messages.every((message) => message.role === 'tool')) return this.continuation(messages.map((message) => message.content));
    return this.encode(this.#traits.afterTurn(this.#forTemplate(messages)));
  }

  /** What ends a turn that the model did not end itself. */
  closing(): number[] {
    return [...this.#closing];
  }

  /** Breaks up control tokens written out in a text from outside, so that a tool's output cannot end its own message. */
  neutralise(text: string): string {
    return broken(text, this.#control);
  }

  /** As `neutralise`, but tags that a person may write about stay whole. */
  neutraliseSpecial(text: string): string {
    return broken(text, this.#special);
  }

  /**
   * A conversation to imitate, laid out exactly as a rollout's tokens are. Mask 1 for what the assistant writes, its end-of-turn token
   * included; 0 for headers, tool texts and what the template puts after the end of a turn. Messages after the last assistant turn are
   * left out.
   * @throws UserError when no assistant message is there.
   */
  demonstration(messages: readonly Message[], tools: readonly ToolDescription[]): Omit<Demonstration, 'id'> {
    const first = messages.findIndex((message) => message.role === 'assistant');
    if (first === -1) throw new UserError('A demonstration has no assistant message.');
    const promptTokens = this.prompt(messages.slice(0, first), tools);
    const tokens: number[] = [];
    const mask: number[] = [];
    const push = (ids: readonly number[], bit: 0 | 1): void => {
      for (const id of ids) {
        tokens.push(id);
        mask.push(bit);
      }
    };
    let between: Message[] = [];
    let open = true;
    for (const message of messages.slice(first)) {
      if (message.role !== 'assistant') {
        between.push(message);
        continue;
      }
      if (!open) push(this.following(between), 0);
      const content = this.#contentOf(message);
      push(this.encode(this.opensThinking ? content.replace(/^\s*<think>\n?/, '') : content), 1);
      push(this.#closing, 1);
      between = [];
      open = false;
    }
    return { promptTokens, tokens, mask };
  }

  /** The tool's words, which may be a stranger's, without control tokens. */
  #told(tool: ToolDescription): ToolDescription {
    if (this.#control === undefined) return tool;
    let told = this.#toldTools.get(tool);
    if (told === undefined) {
      told = eachText(tool, (text) => this.neutralise(text)) as ToolDescription;
      this.#toldTools.set(tool, told);
    }
    return told;
  }

  /** What surrounds a tool's result must not depend on it; a template that trims or rewrites results is said. */
  #resultNotes(): string[] {
    const probe = ' {"value": [1]}\n';
    const [before, after] = this.#piecesFor(1);
    const rendered = this.#traits.afterTurn(this.#forTemplate([{ role: 'tool', content: probe }]));
    return rendered === before + probe + after
      ? []
      : ['The chat template changes tool results (it may trim them): ours go in as they are.'];
  }

  #piecesFor(count: number): Pieces {
    const known = this.#toolPieces.get(count);
    if (known !== undefined) return known;
    const marks = Array.from({ length: count }, (_, i) => `Reply${i}Mark`);
    const rendered = this.#traits.afterTurn(this.#forTemplate(marks.map((content) => ({ role: 'tool', content }))));
    const pieces = splitAt(rendered, marks);
    this.#toolPieces.set(count, pieces);
    return pieces;
  }

  /** Calls are written into the content, and tool results into user messages where the template has no tool role. */
  #forTemplate(messages: readonly Message[]): TemplateMessage[] {
    const out: TemplateMessage[] = [];
    let responses: string[] = [];
    const flush = (): void => {
      if (responses.length > 0) out.push({ role: 'user', content: responses.map(writeToolResponse).join('\n') });
      responses = [];
    };
    for (const message of messages) {
      if (message.role === 'tool' && !this.#traits.hasToolRole) {
        responses.push(message.content);
        continue;
      }
      flush();
      out.push(
        message.role === 'assistant'
          ? { role: 'assistant', content: this.#contentOf(message) }
          : {
              role: message.role,
              content: message.content,
              ...(message.role === 'tool' && message.name !== undefined ? { name: message.name } : {}),
            },
      );
    }
    flush();
    return this.#traits.hasSystemRole ? out : intoQuestion(out);
  }

  /** The assistant's text with its calls as the model writes them. */
  #contentOf({ content, toolCalls = [] }: Extract<Message, { role: 'assistant' }>): string {
    if (toolCalls.length === 0) return content;
    const calls = this.#traits.writeCalls(toolCalls) ?? toolCalls.map((call) => `\n${writeCall(call)}`).join('');
    return content === '' ? calls.replace(/^\n/, '') : content + calls;
  }
}

/** Plain JSON with each text changed, those of keys too. */
function eachText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => eachText(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [change(key), eachText(inner, change)]));
}

function withToolList(messages: readonly Message[], tools: readonly ToolDescription[]): Message[] {
  const list = writeToolList(tools);
  const [first, ...rest] = messages;
  if (first?.role === 'system') return [{ role: 'system', content: `${first.content}\n${list}` }, ...rest];
  return [{ role: 'system', content: list }, ...messages];
}

function placementNotes(asked: ToolPlacement, placed: ToolPlacement, traits: TemplateTraits): string[] {
  const notes: string[] = [];
  if (!traits.hasSystemRole) notes.push('The chat template has no system role: the system text opens the first user message.');
  if (asked === 'auto' && placed === 'system') {
    notes.push('The chat template does not print tools: a short description of them goes into the system message.');
  }
  if (!traits.hasToolRole) {
    notes.push('The chat template has no role for tool results: they go into a user message as <tool_response>.');
  }
  return notes;
}

/** For templates without a system role: its text opens the first user message. */
function intoQuestion(messages: readonly TemplateMessage[]): TemplateMessage[] {
  const [first, second, ...rest] = messages;
  if (first?.role !== 'system') return [...messages];
  if (second?.role !== 'user') return [{ role: 'user', content: first.content }, ...messages.slice(1)];
  return [{ role: 'user', content: `${first.content}\n\n${second.content}` }, ...rest];
}

/** @throws UserError when the template does not print each mark once, in order. */
function splitAt(text: string, marks: readonly string[]): Pieces {
  const pieces: string[] = [];
  let at = 0;
  for (const mark of marks) {
    const found = text.indexOf(mark, at);
    if (found === -1) throw new UserError(`The chat template does not print ${marks.length} tool results of one turn in order.`);
    pieces.push(text.slice(at, found));
    at = found + mark.length;
  }
  return [...pieces, text.slice(at)];
}

const broken = (text: string, tokens: RegExp | undefined): string =>
  tokens === undefined ? text : text.replace(tokens, (token) => `${token[0]} ${token.slice(1)}`);

/** Undefined where there is none. */
function alternatives(texts: readonly string[]): RegExp | undefined {
  if (texts.length === 0) return undefined;
  const longestFirst = [...texts].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g');
}
