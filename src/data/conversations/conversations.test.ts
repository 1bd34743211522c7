import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Message } from '../../domain/message.js';
import { readConversation } from './conversation.js';
import { conversationRow } from './conversationRow.js';
import { readConversations } from './readConversations.js';

const user = { role: 'user', content: 'What is 6 * 7?' };
const call = (args: unknown) => ({ id: 'call_1', type: 'function', function: { name: 'code_interpreter', arguments: args } });
const read = (...messages: unknown[]) => readConversation({ messages }, 'set.parquet: row 3').messages;
const tool = {
  type: 'function',
  function: {
    name: 'code_interpreter',
    description: 'Runs code.',
    parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
  },
};

describe('reading a conversation', () => {
  it('takes arguments as JSON text and as an object', () => {
    const expected = {
      role: 'assistant',
      content: '',
      toolCalls: [{ name: 'code_interpreter', arguments: { code: 'print(6*7)' }, id: 'call_1' }],
    };
    expect(read(user, { role: 'assistant', content: null, tool_calls: [call('{"code":"print(6*7)"}')] })[1]).toEqual(expected);
    expect(read(user, { role: 'assistant', tool_calls: [call({ code: 'print(6*7)' })] })[1]).toEqual(expected);
  });

  it('takes calls without the wrapping function, and leaves out fields that a columnar file fills with null', () => {
    const flat = { name: 'f', arguments: '{}' };
    const [, message] = read(user, {
      role: 'assistant',
      content: 'x',
      tool_calls: [flat],
      name: null,
      tool_call_id: null,
      function_call: null,
    });
    expect(message).toEqual({ role: 'assistant', content: 'x', toolCalls: [{ name: 'f', arguments: {} }] });
  });

  it('keeps the name and the call that a result belongs to, and takes a result of null as empty', () => {
    expect(read(user, { role: 'tool', content: null, name: 'f', tool_call_id: 'call_1' })[1]).toEqual({
      role: 'tool',
      content: '',
      name: 'f',
      callId: 'call_1',
    });
  });

  it('joins text parts and refuses other parts', () => {
    const text = (part: string) => ({ type: 'text', text: part });
    expect(read({ role: 'user', content: [text('6 '), text('* 7')] })).toEqual([{ role: 'user', content: '6 * 7' }]);
    expect(() => read({ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] })).toThrow(
      'set.parquet: row 3: message 1: a part of its content is no text: "image_url"',
    );
  });

  it('keeps reasoning apart from the content', () => {
    expect(read(user, { role: 'assistant', content: '42', reasoning_content: 'Six sevens.' })[1]).toEqual({
      role: 'assistant',
      content: '42',
      reasoning: 'Six sevens.',
    });
  });

  it('reads calls in the text, thinking before them, and their results in a user message', () => {
    const turn =
      '<think>\nA call <tool_call> is needed.\n</think>\n\nI compute it.\n<tool_call>\n{"name": "f", "arguments": {"code": "print(\'<tool_call>\')"}}\n</tool_call>\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>';
    const messages = read(
      user,
      { role: 'assistant', content: turn },
      { role: 'user', content: '<tool_response>\n<tool_call>\n</tool_response>\n<tool_response>\n\n 2\n</tool_response>' },
      { role: 'assistant', content: '42' },
    );
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: '<think>\nA call <tool_call> is needed.\n</think>\n\nI compute it.',
        toolCalls: [
          { name: 'f', arguments: { code: "print('<tool_call>')" } },
          { name: 'g', arguments: {} },
        ],
      },
      { role: 'tool', content: '<tool_call>' },
      { role: 'tool', content: '\n 2' },
      { role: 'assistant', content: '42' },
    ]);
  });

  it.each([
    ['text behind a call', 'A\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nB'],
    ['a call that cannot be read', '<tool_call>\n{"name": "f", "arguments": \n</tool_call>'],
    ['a call without an end', 'A <tool_call>\n{"name": "f", "arguments": {}}'],
    ['a call inside thinking', '<think><tool_call>\n{"name": "f", "arguments": {}}\n</tool_call></think>42'],
  ])('leaves a turn with %s as it is', (_, content) => {
    expect(read(user, { role: 'assistant', content })[1]).toEqual({ role: 'assistant', content });
  });

  it('takes a user message of results for a question where nothing was called', () => {
    const content = '<tool_response>\n1\n</tool_response>';
    expect(read({ role: 'user', content })).toEqual([{ role: 'user', content }]);
  });

  it('takes time linear in hostile text', () => {
    const open = '<tool_call>'.repeat(40_000);
    const valid = '<tool_call>{"name": "f", "arguments": {}}</tool_call>';
    expect(read(user, { role: 'assistant', content: `${open}${valid}` })[1]).toMatchObject({ role: 'assistant' });
    const results = `${'<tool_response>1</tool_response>'.repeat(40_000)}.`;
    expect(read(user, { role: 'assistant', content: valid }, { role: 'user', content: results })[2]).toEqual({
      role: 'user',
      content: results,
    });
  });

  it('reads messages and tools given as JSON text, and tools in the bare form', () => {
    const row = { messages: JSON.stringify([user, { role: 'assistant', content: '42' }]), tools: JSON.stringify([tool.function]) };
    expect(readConversation(row, 'here')).toEqual({
      messages: [user, { role: 'assistant', content: '42' }],
      tools: [tool.function],
    });
  });

  it('leaves out the nulls that a columnar file puts into schemas, and tells no tools from none named', () => {
    const filled = {
      ...tool,
      function: { ...tool.function, parameters: { ...tool.function.parameters, properties: { code: { type: 'string' }, query: null } } },
    };
    expect(readConversation({ messages: [user], tools: [filled] }, 'here').tools).toEqual([tool.function]);
    expect(readConversation({ messages: [user], tools: [] }, 'here').tools).toEqual([]);
    expect(readConversation({ messages: [user], tools: null }, 'here')).toEqual({ messages: [user] });
  });

  it.each([
    [{}, 'here: messages: there are none'],
    [{ messages: [] }, 'here: messages: the list is empty'],
    [{ messages: 'no JSON' }, 'here: messages: not valid JSON'],
    [{ messages: [user, 3] }, 'here: messages: item 2 is not an object'],
    [{ messages: [{ content: 'x' }] }, 'here: message 1: has no role'],
    [{ messages: [{ role: 'function', content: 'x' }] }, 'here: message 1: the role is "function"'],
    [{ messages: [{ role: 'user', content: null }] }, 'here: message 1: has no content'],
    [{ messages: [{ role: 'user', content: 3 }] }, 'here: message 1: content is 3'],
    [{ messages: [user, { role: 'assistant', content: null }] }, 'here: message 2: has neither content nor calls'],
    [{ messages: [user, { role: 'assistant', tool_calls: [call('{"a":')] }] }, 'here: message 2: call 1: arguments: not valid JSON'],
    [{ messages: [user, { role: 'assistant', tool_calls: [call('[1]')] }] }, 'here: message 2: call 1: arguments: not a JSON object: [1]'],
    [{ messages: [user, { role: 'assistant', tool_calls: [call('{"n":9007199254740993}')] }] }, 'the number 9007199254740993 is too large'],
    [{ messages: [user, { role: 'assistant', tool_calls: [call({ n: 9007199254740993n })] }] }, 'the number 9007199254740993 is too large'],
    [{ messages: [user, { role: 'assistant', tool_calls: [{ function: {} }] }] }, 'here: message 2: call 1: has no name'],
    [{ messages: [user, { role: 'assistant', function_call: { name: 'f' } }] }, 'the old form of a call'],
    [{ messages: [user], tools: 'x' }, 'here: tools: not valid JSON'],
    [{ messages: [user], tools: [{ type: 'web_search' }] }, 'here: tool 1: type "web_search"'],
    [{ messages: [user], tools: [tool, tool] }, 'here: tools: two are called "code_interpreter"'],
    [{ messages: [user, { role: 'assistant', tool_calls: [call(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)] }] }, 'nested more than 64'],
    [{ messages: `${'['.repeat(5000)}${']'.repeat(5000)}` }, 'nested more than 64'],
  ])('refuses a broken row (%#)', (row, message) => {
    expect(() => readConversation(row, 'here')).toThrow(message);
  });
});

describe('writing a conversation', () => {
  const messages: Message[] = [
    { role: 'system', content: 'Be exact. ü 漢 \u0000' },
    { role: 'user', content: 'What is 2^61 + 1?' },
    {
      role: 'assistant',
      content: '',
      reasoning: 'Large.',
      toolCalls: [{ id: 'c1', name: 'f', arguments: { code: 'print(2**61+1)\n', n: null } }],
    },
    { role: 'tool', content: '2305843009213693953', name: 'f', callId: 'c1' },
    { role: 'assistant', content: '\\boxed{2305843009213693953}' },
  ];

  it('gives what reads as the same', () => {
    const row = conversationRow(messages, [tool.function], { id: 7 });
    expect(readConversation(row, 'here')).toEqual({ messages, tools: [tool.function] });
    expect(row).toMatchObject({ id: 7, tools: [tool] });
    expect(readConversation(JSON.parse(JSON.stringify(row)), 'here').messages).toEqual(messages);
  });

  const originals: Record<string, Record<string, unknown>> = {
    nulls: {
      id: '9007199254740993',
      messages: [
        { role: 'user', content: 'x', tool_calls: null, name: null },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{ "a" : 1 }' } }],
        },
        { role: 'tool', content: '1', tool_call_id: 'c' },
        { role: 'assistant', content: [{ type: 'text', text: '1' }], refusal: null },
      ],
      tools: JSON.stringify([tool], undefined, 1),
    },
    hermes: {
      messages: [
        user,
        { role: 'assistant', content: 'a\n\n<tool_call>{"name":"f","arguments":{}}</tool_call>\n' },
        { role: 'user', content: '<tool_response>1</tool_response>\n\n<tool_response>2</tool_response>' },
        { role: 'assistant', content: '3' },
      ],
      tools: null,
    },
    text: { messages: `[ ${JSON.stringify(user)} ]`, score: 0.5 },
  };

  it.each(Object.entries(originals))('changes no value of a row with %s that was read', (_, original) => {
    const { messages: found, tools } = readConversation(original, 'here');
    expect(conversationRow(found, tools, {}, original)).toEqual(original);
  });

  it('keeps the messages in front of one that was changed as they stood', () => {
    const original = originals.nulls!;
    const { messages: found, tools } = readConversation(original, 'here');
    const changed = [...found.slice(0, -1), { role: 'assistant' as const, content: 'other' }];
    const row = conversationRow(changed, tools, {}, original) as { messages: unknown[]; tools: unknown };
    expect(row.messages.slice(0, 3)).toEqual((original.messages as unknown[]).slice(0, 3));
    expect(row.messages[3]).toEqual({ role: 'assistant', content: 'other' });
    expect(row.tools).toBe(original.tools);
  });
});

describe('reading a file of conversations', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwise-conversations-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'set.jsonl');
  writeFileSync(
    file,
    `${JSON.stringify({ id: 4, messages: [user] })}\n${JSON.stringify({ messages: [{ role: 'x' }] })}\n\n${JSON.stringify({ messages: [user], tools: [tool] })}\n`,
  );

  it('tells of bad rows by file and line and goes on', async () => {
    const bad: { where: string; error: string }[] = [];
    const ids: string[] = [];
    for await (const { id } of readConversations(file, { onBad: (row) => bad.push(row) })) ids.push(id);
    expect(ids).toEqual(['4', `${file}:4`]);
    expect(bad).toEqual([{ where: `${file}:2`, error: 'message 1: the role is "x"' }]);
  });

  it('ends at the first bad row where nobody is told', async () => {
    const reading = async (): Promise<void> => {
      for await (const _ of readConversations(file));
    };
    await expect(reading()).rejects.toThrow(`${file}:2: message 1`);
  });
});
