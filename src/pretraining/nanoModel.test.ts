import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ChatFormat } from '../chat/chatFormat.js';
import { Tokenizer } from '../chat/tokenizer.js';
import { calcProblems } from '../problems/calc.js';
import { Random } from '../random.js';
import { packageRoot } from '../setup/paths.js';
import { writeTrace } from './template.js';
import { finishTrace, planTrace } from './trace.js';

const FOLDER = join(packageRoot(), 'models', 'nano');

describe('the tokenizer of nano', () => {
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    tokenizer = await Tokenizer.load(FOLDER);
  });

  it('gives the ids of the Python library, and gets the text back', () => {
    const lines = readFileSync(join(FOLDER, 'tokenizer_examples.jsonl'), 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(30);
    for (const line of lines) {
      const [text, ids] = JSON.parse(line) as [string, number[]];
      expect({ text, ids: tokenizer.encode(text) }).toEqual({ text, ids });
      expect(tokenizer.decode(ids)).toBe(text);
    }
  });

  it('keeps digits apart, and the tags of calls in decoded text', () => {
    expect(tokenizer.encode('1234567')).toHaveLength(7);
    const ids = tokenizer.encode('<tool_call>\n{}\n</tool_call><|end|>');
    expect(tokenizer.decode(ids, { skipSpecial: true })).toBe('<tool_call>\n{}\n</tool_call>');
  });
});

describe('the chat format of nano', () => {
  let format: ChatFormat;
  beforeAll(async () => {
    format = await ChatFormat.load(FOLDER);
  });

  it('is prefix-preserving and ends turns at its own token', () => {
    expect(format.decode(format.stopTokenIds)).toBe('<|end|>');
    expect(format.notes.filter((note) => note.includes('prefix'))).toEqual([]);
    expect(format.opensThinking).toBe(false);
  });

  it('lays a conversation out as the traces of the pretraining are', () => {
    const problems = calcProblems({ size: 'small', split: 'train', seed: 8, count: 60 });
    for (const [i, problem] of problems.entries()) {
      const plan = planTrace(problem, new Random(i));
      const trace = finishTrace(
        plan,
        plan.calls.map((_, n) => `reply ${n}`),
      );
      let text = format.promptText([{ role: 'user', content: problem.question }], []);
      for (const turn of trace.turns) {
        text += `${turn.text}<|end|>`;
        if (turn.reply !== undefined) text += format.continuationText([turn.reply]);
      }
      expect(text).toBe(
        writeTrace(trace)
          .map(([piece]) => piece)
          .join(''),
      );
      expect(
        format.prompt(
          [
            { role: 'system', content: 'Any.' },
            { role: 'user', content: problem.question },
          ],
          [],
        ),
      ).toEqual(format.prompt([{ role: 'user', content: problem.question }], []));
    }
  });

  it('writes calls of messages as the model does', () => {
    const { tokens } = format.demonstration(
      [
        { role: 'user', content: 'Q?' },
        { role: 'assistant', content: 'I will run code. ', toolCalls: [{ name: 'code_interpreter', arguments: { code: 'print(1)' } }] },
      ],
      [],
    );
    expect(format.decode(tokens)).toBe(
      'I will run code. <tool_call>\n{"name": "code_interpreter", "arguments": {"code": "print(1)"}}\n</tool_call><|end|>',
    );
  });
});

describe('the weights of nano', () => {
  it('are small enough for the package', () => {
    expect(statSync(join(FOLDER, 'model.safetensors')).size).toBeLessThan(4_000_000);
  });

  it('fit the tokenizer', async () => {
    const config = JSON.parse(readFileSync(join(FOLDER, 'config.json'), 'utf8')) as Record<string, unknown>;
    const tokenizer = await Tokenizer.load(FOLDER);
    expect(config.architectures).toEqual(['LlamaForCausalLM']);
    expect(config.vocab_size).toBe(512);
    expect(config.eos_token_id).toBe(tokenizer.idOf('<|end|>'));
    expect(config.tie_word_embeddings).toBe(true);
  });
});
