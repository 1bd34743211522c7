import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHATML, type ModelFolder, modelFolder } from '../../test/support/modelFolder.js';
import { ChatFormat } from '../chat/chatFormat.js';
import { conversationRow } from '../data/conversations/conversationRow.js';
import type { Demonstration } from '../domain/demonstration.js';
import type { Message } from '../domain/message.js';
import type { SftStage } from '../recipe/schema.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { openCodeRunner } from '../sandbox/open.js';
import type { Session } from '../session/session.js';
import { createTable } from '../tables/writeTable.js';
import type { ToolDescription } from '../tools/jsonSchema.js';
import { buildDemonstrations } from './demonstrations.js';

const describing = (name: string): ToolDescription => ({
  name,
  description: `The tool ${name}.`,
  parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
});
const conversation: Message[] = [
  { role: 'user', content: 'What is 6 * 7?' },
  {
    role: 'assistant',
    content: 'I multiply.',
    reasoning: 'Six sevens.',
    toolCalls: [{ id: 'call_1', name: 'own_tool', arguments: { code: '6*7' } }],
  },
  { role: 'tool', content: '42', callId: 'call_1' },
  { role: 'assistant', content: 'It is \\boxed{42}.' },
];

describe('demonstrations from a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwise-demonstrations-'));
  let format: ChatFormat;
  let model: ModelFolder;
  beforeAll(async () => {
    model = await modelFolder(CHATML);
    format = await ChatFormat.load(model.path);
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await model.remove();
  });

  async function build(file: string, contextTokens = 4096, warnings: string[] = [], over: object = {}): Promise<Demonstration[]> {
    const session = {
      format,
      toolbox: { descriptions: [describing('recipe_tool')] },
      rolloutSettings: () => ({ system: 'Be exact.', contextTokens }),
    } as unknown as Session;
    const stage = { demonstrations: { file }, maxTokens: 4096, ...over } as unknown as SftStage;
    return buildDemonstrations(stage, session, 1, { warn: (text) => warnings.push(text), signal: new AbortController().signal });
  }

  it.each(['jsonl', 'parquet', 'json'])('are read from %s, with the tools of the row in the prompt of that row', async (ending) => {
    const file = join(folder, `set.${ending}`);
    const table = await createTable(file);
    await table.write(conversationRow(conversation, [describing('own_tool')], { id: 'a' }));
    await table.write(conversationRow(conversation, undefined, { id: 'b' }));
    await table.close();
    const [first, second] = await build(file);
    expect([first!.id, second!.id]).toEqual(['a', 'b']);
    expect(format.decode(first!.promptTokens)).toContain('The tool own_tool.');
    expect(format.decode(first!.promptTokens)).not.toContain('recipe_tool');
    expect(format.decode(second!.promptTokens)).toContain('The tool recipe_tool.');
    expect(format.decode(second!.promptTokens)).toContain('Be exact.');
    for (const { tokens, mask } of [first!, second!]) {
      const trained = format.decode(tokens.filter((_, i) => mask[i] === 1));
      expect(trained).toContain('<think>\nSix sevens.\n</think>');
      expect(trained).toContain('{"name": "own_tool", "arguments": {"code": "6*7"}}');
      expect(trained).not.toContain('call_1');
      expect(trained).not.toContain('42</tool_response>');
      expect(trained).toContain('\\boxed{42}');
    }
  });

  it('are left out, and it is said, where they are longer than the model reads', async () => {
    const file = join(folder, 'long.jsonl');
    const long = [...conversation, { role: 'user', content: 'more '.repeat(400) }, { role: 'assistant', content: 'Yes.' }] as Message[];
    writeFileSync(file, [conversation, long].map((messages) => `${JSON.stringify(conversationRow(messages))}\n`).join(''));
    const warnings: string[] = [];
    expect((await build(file, 1000, warnings)).length).toBe(1);
    expect(warnings).toEqual(["1 of 2 demonstrations are longer than 1000 tokens, the model's context, and are left out"]);
    await expect(build(file, 10)).rejects.toThrow("no demonstration fits into 10 tokens, the model's context");
  });

  it("are left out, and it is said, where the released code's mask leaves nothing of them", async () => {
    const file = join(folder, 'short.jsonl');
    const silent: Message[] = [
      { role: 'user', content: 'Say nothing.' },
      { role: 'assistant', content: '' },
    ];
    writeFileSync(file, [conversation, silent].map((messages) => `${JSON.stringify(conversationRow(messages))}\n`).join(''));
    const warnings: string[] = [];
    expect((await build(file, 4096, warnings)).length).toBe(2);
    expect((await build(file, 4096, warnings, { mask: 'reference' })).length).toBe(1);
    expect(warnings).toEqual(['1 demonstrations have no token that sft.mask trains, and are left out']);
    writeFileSync(file, `${JSON.stringify(conversationRow(silent))}\n`);
    await expect(build(file, 4096, [], { mask: 'reference' })).rejects.toThrow('no token of any demonstration');
  });

  it('are refused by file and row where a row is broken or says nothing', async () => {
    const file = join(folder, 'broken.jsonl');
    const good = JSON.stringify(conversationRow(conversation));
    writeFileSync(file, `${good}\n{"messages": [{"role": "robot", "content": "x"}]}\n`);
    await expect(build(file)).rejects.toThrow(`${file}:2: message 1: the role is "robot"`);
    writeFileSync(file, `${good}\n${good}\n{"messages": [{"role": "user", "content": "x"}]}\n`);
    await expect(build(file)).rejects.toThrow(`${file}:3: no assistant message`);
    writeFileSync(file, '');
    await expect(build(file)).rejects.toThrow('has no conversations');
    await expect(build(join(folder, 'absent.jsonl'))).rejects.toThrow('there is no such file');
  });
});

describe('demonstrations from written solutions', () => {
  let runner: CodeRunner;
  let format: ChatFormat;
  let model: ModelFolder;
  beforeAll(async () => {
    model = await modelFolder(CHATML);
    format = await ChatFormat.load(model.path);
    runner = await openCodeRunner({ kind: 'auto', workers: 2 });
  });
  afterAll(async () => {
    await runner.close();
    await model.remove();
  });

  const build = (over: object, seed = 1, teacher = 'stitched'): Promise<Demonstration[]> => {
    const session = {
      ...{ format, runner, toolbox: { descriptions: [] } },
      rolloutSettings: () => ({ system: '' }),
      ...over,
    } as unknown as Session;
    const demonstrations = { teacher, problems: { kind: 'calc-small' }, count: 12 };
    const stage = { demonstrations, maxTokens: 4096 } as unknown as SftStage;
    return buildDemonstrations(stage, session, seed, { warn: () => undefined, signal: new AbortController().signal });
  };

  it('have calls stitched in that the sandbox runs, others with another seed', async () => {
    const built = await build({});
    expect(built.length).toBeGreaterThan(6);
    for (const { tokens, mask } of built) {
      const text = format.decode(tokens);
      expect(text).toMatch(/<tool_call>\s*\{"name": "code_interpreter"[\s\S]*print\(/);
      expect(text).toContain('\\boxed{');
      expect(mask).toContain(0);
      expect(mask).toContain(1);
    }
    expect((await build({})).map(({ id }) => id)).toEqual(built.map(({ id }) => id));
    expect((await build({}, 2)).map(({ id }) => id)).not.toEqual(built.map(({ id }) => id));
  });

  it('are left as they are, without a call, where that is asked for', async () => {
    const built = await build({ runner: undefined }, 1, 'written');
    expect(built).toHaveLength(12);
    for (const { tokens, mask } of built) {
      const text = format.decode(tokens);
      expect(text).not.toContain('tool_call');
      expect(text).toMatch(/\nThe answer is \\boxed\{\d+\}\./);
      expect(mask).toContain(1);
    }
  });

  it('need the sandbox for their calls, and say so', async () => {
    await expect(build({ runner: undefined })).rejects.toThrow('stitched calls run in the sandbox');
  });
});
