/** Rows as a person reads them, shortened, and a few of them drawn from all. */
import type { Problem } from '../../domain/problem.js';
import { deriveSeed, Random } from '../../random.js';
import { readCodeTests } from '../../reward/code/readCodeTests.js';
import { UserError } from '../../userError.js';
import type { Conversation } from '../conversations/conversation.js';
import type { SetRow } from '../setFile.js';
import type { Example } from './inspection.js';

const LONGEST = 1200;

/** The first row, and others drawn evenly from all that came, however many: each stays with the same chance. */
export class ExampleDrawer {
  readonly #random = new Random(deriveSeed(1, 'examples'));
  readonly #kept: { readonly number: number; readonly row: SetRow }[] = [];
  #seen = 0;

  constructor(private readonly wanted: number) {}

  add(row: SetRow): void {
    this.#seen++;
    const item = { number: this.#seen, row };
    if (this.#kept.length < this.wanted) {
      this.#kept.push(item);
      return;
    }
    // The first stays; the others are a sample of all that came after it.
    const slot = 1 + Math.floor(this.#random.next() * (this.#seen - 1));
    if (slot < this.wanted) this.#kept[slot] = item;
  }

  list(): Example[] {
    return this.#kept.toSorted((a, b) => a.number - b.number).flatMap(({ row }) => exampleOf(row) ?? []);
  }
}

function exampleOf(set: SetRow): Example | undefined {
  if (set.kind === 'bad') return undefined;
  const { where } = set.row;
  if (set.kind === 'problem') return { where, parts: problemParts(set.problem) };
  if (set.kind === 'conversation') return { where, parts: conversationParts(set.conversation) };
  return { where, parts: Object.entries(set.row.values).map(([name, value]) => part(name, textOf(value))) };
}

type Part = Example['parts'][number];

function problemParts({ id, question, answer, kind = 'math', options, tests, source }: Problem): Part[] {
  return [
    part('id', source === undefined ? id : `${id} (${source})`),
    part('question', question),
    ...(options ?? []).map((option, i) => part(`option ${String.fromCharCode(65 + i)}`, option)),
    ...(answer === undefined ? [] : [part(`answer, ${kind}`, answer)]),
    ...(tests === undefined || tests === null ? [] : [part('tests', describeTests(tests))]),
  ];
}

function describeTests(tests: unknown): string {
  try {
    const read = readCodeTests(tests);
    if (read.kind === 'assertions') return `an assertion program for ${read.entryPoint}`;
    const what = read.kind === 'stdio' ? 'of standard input and output' : `that call ${read.functionName}`;
    return `${read.cases.length} ${read.cases.length === 1 ? 'test' : 'tests'} ${what}`;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.message;
  }
}

function conversationParts({ messages, tools }: Conversation): Part[] {
  return [
    ...(tools === undefined ? [] : [part('tools', tools.map(({ name }) => name).join(', ') || 'none')]),
    ...messages.flatMap((message) => {
      if (message.role === 'tool') return [part(message.name === undefined ? 'tool' : `tool ${message.name}`, message.content)];
      if (message.role !== 'assistant') return [part(message.role, message.content)];
      const { reasoning, content, toolCalls = [] } = message;
      return [
        ...(reasoning === undefined || reasoning === '' ? [] : [part('assistant thinks', reasoning)]),
        ...(content === '' ? [] : [part('assistant', content)]),
        ...toolCalls.map((call) => part(`assistant calls ${call.name}`, argumentsText(call.arguments))),
      ];
    }),
  ];
}

/** The program alone where that is all. */
function argumentsText(args: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(args);
  const [only] = entries;
  return entries.length === 1 && typeof only![1] === 'string' ? only![1] : textOf(args);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return JSON.stringify(value) ?? String(value);
}

function part(name: string, text: string): Part {
  if (text.length <= LONGEST) return { name, text };
  const half = LONGEST / 2;
  return { name, text: `${text.slice(0, half)}\n… ${text.length - LONGEST} characters left out …\n${text.slice(-half)}` };
}
