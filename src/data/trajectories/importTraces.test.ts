import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTable } from '../../tables/openTable.js';
import { temporaryFolder } from '../../tables/testSupport.js';
import { readConversation } from '../conversations/conversation.js';
import { type ImportOptions, importTraces } from './importTraces.js';
import { readTrace } from './traceRow.js';

const folder = temporaryFolder();
const user = { role: 'user', content: 'What is 6 * 7?' };
const called = (id = 'c1', args: unknown = '{"code": "print(6*7)"}') => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'python', arguments: args } }],
});
const result = (id = 'c1', content = '42') => ({ role: 'tool', tool_call_id: id, content });
const answer = { role: 'assistant', content: 'It is 42.' };
const TOOL = {
  type: 'function',
  function: {
    name: 'python',
    description: 'Runs code.',
    parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
  },
};
const reply = (message: object, more: object = {}) => ({
  id: 'chatcmpl-1',
  model: 'big',
  choices: [{ message, finish_reason: 'stop' }],
  ...more,
});
const read = (values: Record<string, unknown>) => readTrace({ number: 4, where: 'log.jsonl:4', values });

describe('a line of a log', () => {
  const whole = [user, called(), result(), answer];
  it.each([
    ['messages with the answer among them', { messages: whole, tools: [TOOL] }],
    ['a request and its response', { request: { messages: whole.slice(0, 3), tools: [TOOL], model: 'asked' }, response: reply(answer) }],
    [
      'both as JSON text',
      { request: JSON.stringify({ messages: whole.slice(0, 3), tools: [TOOL] }), response: JSON.stringify(reply(answer)) },
    ],
    [
      'a batch',
      { custom_id: 'b7', body: { messages: whole.slice(0, 3), tools: [TOOL] }, response: { status_code: 200, body: reply(answer) } },
    ],
    ['bodies inside', { request: { url: '/v1', body: { messages: whole.slice(0, 3), tools: [TOOL] } }, response: { body: reply(answer) } }],
    ['messages beside a response', { messages: whole.slice(0, 3), tools: [TOOL], response: reply(answer) }],
  ])('may be %s', (_, values) => {
    const { messages, tools } = read(values);
    expect(messages).toEqual([
      user,
      { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'python', arguments: { code: 'print(6*7)' } }] },
      { role: 'tool', callId: 'c1', content: '42' },
      answer,
    ]);
    expect(tools).toEqual([TOOL.function]);
  });

  it('is called by its own id, that of the response, or its place; the developer is the system', () => {
    expect(read({ id: 7, messages: [user, answer] }).id).toBe('7');
    expect(read({ request: { messages: [user] }, response: reply(answer) })).toMatchObject({ id: 'chatcmpl-1', model: 'big' });
    expect(read({ messages: [{ role: 'developer', content: 'Be brief.' }, user, answer] })).toMatchObject({
      id: 'log.jsonl:4',
      messages: [{ role: 'system' }, {}, {}],
    });
  });

  it.each([
    ['no messages', { prompt: 'x' }, /log\.jsonl:4: it has no messages/],
    [
      'an error',
      { request: { messages: [user] }, response: { error: { message: 'rate limited' } } },
      /response is an error: "rate limited"/,
    ],
    [
      'an error of a batch',
      { body: { messages: [user] }, response: { status_code: 500, body: { error: { message: 'oops' } } } },
      /error: "oops"/,
    ],
    ['no choices', { request: { messages: [user] }, response: { choices: [] } }, /response has no choices/],
    ['pieces', { request: { messages: [user] }, response: 'data: {"choices": []}\n\ndata: [DONE]' }, /is a stream of pieces/],
    ['a cut answer', { messages: [user], response: { choices: [{ message: answer, finish_reason: 'length' }] } }, /cut at a token limit/],
    [
      'a filtered answer',
      { messages: [user], response: { choices: [{ message: answer, finish_reason: 'content_filter' }] } },
      /content filter/,
    ],
    ['arguments that are no JSON', { messages: [user, called('c1', '{"code":')] }, /message 2: call 1: arguments: not valid JSON/],
    ['absurd nesting', { messages: [user, called('c1', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`)] }, /nested more than/],
    ['text in place of a request', { request: 'GET /', response: reply(answer) }, /request: not valid JSON/],
  ])('with %s is refused by name', (_, values, error) => {
    expect(() => read(values)).toThrow(error);
  });
});

let outs = 0;
async function imported(rows: readonly (object | string)[], more: Partial<ImportOptions> = {}) {
  const n = outs++;
  const lines = rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
  const said: string[] = [];
  const out = join(folder.path, `set-${n}.jsonl`);
  const options = { files: [folder.write(`log-${n}.jsonl`, lines)], out, log: (line: string) => said.push(line), ...more };
  const report = await importTraces(options).catch((error: Error & { hint?: string }) => error);
  return { report, said, out: options.out };
}

describe('importing logs', () => {
  const steps = [
    { request: { messages: [user], tools: [TOOL] }, response: reply(called()) },
    {
      request: { messages: [user, { ...called(), content: '' }, result()], tools: [TOOL] },
      response: reply({ ...answer, reasoning_content: 'Good.' }),
    },
    {
      request: { messages: [user, called(), result(), answer, { role: 'user', content: 'And 7 * 8?' }], tools: [TOOL] },
      response: reply({ role: 'assistant', content: '56' }),
    },
  ];

  it('takes the longest of the lines that one conversation left, and each once', async () => {
    const other = {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
      ],
    };
    const { report, out } = await imported([...steps, other, steps[1]!, steps[2]!]);
    expect(report).toMatchObject({ rows: 2, stages: 3, repeated: 1, unreadable: 0, faulty: 0, calls: 1, rowsWithoutCall: 1 });
    const rows = await readTable(out);
    expect(rows.map(({ values }) => readConversation(values, 'here').messages.map(({ role }) => role))).toEqual([
      ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'],
      ['user', 'assistant'],
    ]);
    expect(rows[0]!.values).toMatchObject({ id: 'chatcmpl-1', source: expect.stringMatching(/^log-\d+\.jsonl$/), model: 'big' });
  });

  it('takes a stage for whole where the longer line is broken', async () => {
    const broken = { messages: [...steps[2]!.request.messages, called('c9')], tools: [TOOL] };
    const { report } = await imported([steps[0]!, steps[1]!, broken]);
    expect(report).toMatchObject({ rows: 1, stages: 1, faulty: 1 });
  });

  it('tells bad rows by file and row, and leaves them out', async () => {
    const { report, said } = await imported([
      { messages: [user, answer] },
      'no JSON',
      { messages: [{ role: 'user', content: 'Another?' }, called()] },
      { messages: [user, result(), answer] },
      { messages: [user, called('a'), result('b'), answer] },
      { messages: [user, called(), { role: 'user', content: 'Well?' }, answer] },
      { messages: [user] },
      { request: { messages: [user] }, response: { error: 'overloaded' } },
    ]);
    expect(report).toMatchObject({ rows: 1, unreadable: 2, faulty: 5, sources: [{ rows: 8, kept: 1 }] });
    const text = said.join('\n');
    for (const line of [
      /log-\d+\.jsonl:2: not valid JSON/,
      /:3: the conversation ends before the call of python has a result/,
      /:4: message 2 is a result, and no call stands before it/,
      /:5: message 3 answers the call "b", which was not made/,
      /:6: message 3 comes before the call of python has a result/,
      /:7: the conversation ends with a user message/,
      /:8: response is an error: "overloaded"/,
    ])
      expect(text).toMatch(line);
    expect(text.match(/:2:/g)).toHaveLength(1);
  });

  it.each([
    ['unreadable', ['no JSON'], /log-\d+\.jsonl:2/],
    ['without a result', [{ messages: [user, called()] }], /:2: the conversation ends before/],
    ['without messages', [{ x: 1 }], /:2: it has no messages/],
  ])('ends at the first row %s where that is asked for', async (_, bad, error) => {
    const { report, out } = await imported([{ messages: [user, answer] }, ...bad], { strict: true });
    expect((report as Error).message).toMatch(error);
    expect(existsSync(out)).toBe(false);
  });

  it('keeps calls that the tools do not allow, and says so', async () => {
    const { report, said } = await imported([{ messages: [user, called('c1', '{"program": 1}'), result(), answer], tools: [TOOL] }]);
    expect(report).toMatchObject({ rows: 1, doubtfulCalls: 1 });
    expect(said[0]).toMatch(/:1: message 2 calls python: .*; kept/);
  });

  const MAIL = 'jane.doe@uni-mainz.de';
  const KEY = `ghp_${'a1B2'.repeat(9)}`;
  const secret = {
    id: `ticket of ${MAIL}`,
    messages: [
      { role: 'user', content: `Write to ${MAIL} and max@firma.de.` },
      called('c1', JSON.stringify({ code: `send("${MAIL}", token="${KEY}")` })),
      result('c1', 'sent'),
      { role: 'assistant', content: `Done: ${MAIL}`, reasoning_content: `The key is ${KEY}.` },
    ],
    tools: [TOOL],
  };

  it('writes nothing where something private is found and nothing was said of it', async () => {
    const { report, out } = await imported([{ messages: [user, answer] }, secret]);
    const { message, hint } = report as Error & { hint: string };
    expect(message).toMatch(/5 email, 2 key.*nothing is written:\n.*:2: id: email j\*\*\*@uni-mainz\.de\n.*:2: message 1: email/);
    expect(message).toMatch(/:2: message 2, call of python: key ghp_\*\*\*/);
    expect(message).not.toMatch(/jane\.doe|a1B2/);
    expect(hint).toBe('Replace it by --redact, or keep it by --allow-private.');
    expect(existsSync(out)).toBe(false);
    expect(readdirSync(folder.path).filter((file) => file.includes('.part'))).toEqual([]);
  });

  it('replaces it by stand-ins that stay the same within a conversation', async () => {
    const { report, out } = await imported([secret], { private: 'redact' });
    expect(report).toMatchObject({ rows: 1, redacted: true, private: { email: 5, key: 2 } });
    const text = readFileSync(out, 'utf8');
    expect(text).not.toMatch(/jane|mainz|firma|a1B2/);
    const { id, messages } = (await readTable(out))[0]!.values as { id: string; messages: never };
    expect(id).toBe('ticket of [email-1]');
    expect(readConversation({ messages }, 'here').messages).toMatchObject([
      { content: 'Write to [email-1] and [email-2].' },
      { toolCalls: [{ arguments: { code: 'send("[email-1]", token="[key-1]")' } }] },
      { content: 'sent' },
      { content: 'Done: [email-1]', reasoning: 'The key is [key-1].' },
    ]);
    expect(readFileSync(`${out}.card.md`, 'utf8')).toContain('Replaced by stand-ins: 5 email, 2 key');
  });

  it('keeps it on request, and the card says so without repeating it', async () => {
    const { report, out } = await imported([secret], { private: 'keep' });
    expect(report).toMatchObject({ rows: 1, redacted: false });
    expect(readFileSync(out, 'utf8')).toContain(MAIL);
    const card = readFileSync(`${out}.card.md`, 'utf8');
    expect(card).toContain('It holds 5 email, 2 key, kept on request');
    expect(card).not.toMatch(/jane|a1B2/);
  });

  it('writes conversations with different tools as Parquet', async () => {
    const search = {
      type: 'function',
      function: { name: 'search', description: 'S', parameters: { type: 'object', properties: { q: { type: ['string', 'null'] } } } },
    };
    const out = join(folder.path, 'set.parquet');
    const rows = [
      { messages: [user, called(), result(), answer], tools: [TOOL, search] },
      { messages: [{ role: 'user', content: 'Hi' }, answer] },
    ];
    const { report } = await imported(rows, { out });
    expect(report).toMatchObject({ rows: 2 });
    const read = (await readTable(out)).map(({ values }) => readConversation(values, 'here'));
    expect(read[0]!.tools).toEqual([TOOL.function, search.function]);
    expect(read[0]!.messages[1]).toMatchObject({ toolCalls: [{ arguments: { code: 'print(6*7)' } }] });
    expect(read[1]!.tools).toBeUndefined();
  });

  it('takes several files, and overwrites nothing', async () => {
    const first = folder.write('a.jsonl', `${JSON.stringify(steps[0])}\n`);
    const second = folder.write('b.jsonl', `${JSON.stringify(steps[2])}\n`);
    const { report, out } = await imported([], { files: [first, second] });
    expect(report).toMatchObject({
      rows: 1,
      stages: 1,
      sources: [
        { name: 'a.jsonl', rows: 1, kept: 0 },
        { name: 'b.jsonl', rows: 1, kept: 1 },
      ],
    });
    expect((await imported([steps[2]!], { out })).report).toMatchObject({ message: expect.stringMatching(/is there already/) });
    expect((await imported([steps[2]!], { out, force: true })).report).toMatchObject({ rows: 1 });
  });

  it('writes no set without rows', async () => {
    const { report, out } = await imported([{ messages: [user] }]);
    expect((report as Error).message).toMatch(/no whole conversation/);
    expect(existsSync(out)).toBe(false);
  });
});
