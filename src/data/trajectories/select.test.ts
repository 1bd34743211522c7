import { describe, expect, it } from 'vitest';
import { readConversation } from '../conversations/conversation.js';
import { conversationRow } from '../conversations/conversationRow.js';
import { trajectoryMessages } from './messages.js';
import { type Candidate, selectOfProblem, topOfEachSource } from './select.js';
import { nearlySame, sketchOf } from './similar.js';
import { call, stored, trajectoryOf, type Written } from './testRollouts.js';

const right = (code: string, text = ''): Written[] => [[`${text}${call(code)}`, '42'], ['It is \\boxed{42}.']];

describe('a rollout told in messages', () => {
  it('has system, question, turns with calls, and results under the ids of their calls', () => {
    const turns: Written[] = [
      [`<think>Two steps.</think>I multiply.\n${call('print(6)')}\n${call('print(7)')}`, '6', '!oops'],
      ['It is \\boxed{42}.'],
    ];
    const told = trajectoryMessages(trajectoryOf(turns), 'Be brief.');
    const code = (id: string, text: string) => ({ id, name: 'code_interpreter', arguments: { code: text } });
    expect(told).toEqual({
      kind: 'messages',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is 6 * 7?' },
        {
          role: 'assistant',
          content: 'I multiply.',
          reasoning: 'Two steps.',
          toolCalls: [code('call_1', 'print(6)'), code('call_2', 'print(7)')],
        },
        { role: 'tool', content: '6', name: 'code_interpreter', callId: 'call_1' },
        { role: 'tool', content: 'oops', name: 'code_interpreter', callId: 'call_2' },
        { role: 'assistant', content: 'It is \\boxed{42}.' },
      ],
    });
    const row = conversationRow(told.kind === 'messages' ? told.messages : []);
    expect(readConversation(JSON.parse(JSON.stringify(row)) as Record<string, unknown>, 'here').messages).toEqual(
      told.kind === 'messages' && told.messages,
    );
  });

  it.each([
    ['I multiply. ', 'I multiply. '],
    ['\n I multiply.\n\n', 'I multiply.'],
    ['', ''],
  ])('keeps the spaces before a call, which a template does not put there itself: %j', (written, content) => {
    const told = trajectoryMessages(trajectoryOf([[`${written}${call('print(42)')}`, '42'], [' It is \\boxed{42}.\n']]), '');
    expect(told).toMatchObject({ messages: [{}, { content }, {}, { content: 'It is \\boxed{42}.' }] });
  });

  it.each([
    ['a call that cannot be read', [['<tool_call>{"name": </tool_call>', '?not JSON'], ...right('print(1)')], {}],
    ['text after a call', [[`${call('print(1)')}\nThen I answer.`, '1'], ['\\boxed{1}']], {}],
    ['no answer at its end', right('print(1)'), { stopReason: { kind: 'turnLimit' } }],
  ] as [string, Written[], object][])('cannot say %s', (why, turns, more) => {
    expect(trajectoryMessages(trajectoryOf(turns, more), '')).toEqual({ kind: 'untellable', why });
  });
});

describe('nearly the same', () => {
  const same = (a: Written[], b: Written[]): boolean => nearlySame(sketchOf(trajectoryOf(a)), sketchOf(trajectoryOf(b)));
  it('are calls that differ in comments and spacing, whatever the words', () => {
    expect(same(right('print(6 * 7)'), right('# the product\nprint(6*7)  # done', 'A plan of other words. '))).toBe(true);
  });
  it('are not calls of other numbers, other names or other strings', () => {
    expect(same(right('print(6*7)'), right('print(6*8)'))).toBe(false);
    expect(same(right('print(6*7)'), right('a = 6\nb = 7\nprint(a*b)'))).toBe(false);
    expect(same(right('print(find("abc"))'), right('print(find("xyz"))'))).toBe(false);
  });
  it('are long texts without calls that differ in a word', () => {
    const long = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ');
    expect(same([[long]], [[`${long} more`]])).toBe(true);
    expect(same([[long]], [[long.replaceAll('word', 'other')]])).toBe(false);
  });
});

describe('the rollouts of one problem', () => {
  it('lose the wrong, the untellable, those without a successful call and all but one of near equals', () => {
    const plan = 'The product of the two numbers is what is asked for, so I multiply 6 by 7.\n';
    const { chosen, removed } = selectOfProblem(
      [
        stored(0, right('print(6*7)')),
        stored(1, right('print(6*8)'), false),
        stored(2, right('print(6*7) # same', plan)),
        stored(3, [['\\boxed{42}']]),
        stored(4, [[call('x'), '!NameError'], ['\\boxed{42}']]),
        stored(5, [[`${call('print(42)')} So.`, '42'], ['\\boxed{42}']]),
        stored(7, right('total = sum(6 for _ in range(7))\nprint(total)')),
      ],
      '',
    );
    expect(chosen.map(({ sample, behaviours }) => [sample, behaviours])).toEqual([
      [2, ['analysis']],
      [7, []],
    ]);
    expect(removed).toEqual({ wrong: 1, 'not told in messages': 1, 'no tool used with success': 2, 'nearly the same': 1 });
  });
});

describe('the best of each source', () => {
  const candidate = (problem: number, sample: number, more: Partial<Candidate> = {}): Candidate => ({
    problem,
    sample,
    source: 'a',
    behaviours: [],
    calls: 1,
    ...more,
  });
  const ids = (candidates: readonly Candidate[]): string[] => candidates.map(({ problem, sample }) => `${problem}/${sample}`);

  it('are those with the highest score, in the order that they came in', () => {
    const all = [candidate(0, 0, { score: 0.2 }), candidate(0, 1, { score: 0.9 }), candidate(1, 0), candidate(2, 0, { score: 0.3 })];
    expect(ids(topOfEachSource(all, 2))).toEqual(['0/1', '2/0']);
    expect(ids(topOfEachSource(all, 9))).toEqual(ids(all));
  });

  it('are, without scores, those with more behaviours, then one of each problem first', () => {
    const all = [candidate(0, 0), candidate(0, 1), candidate(1, 0), candidate(1, 1, { behaviours: ['checking'] })];
    expect(ids(topOfEachSource(all, 3))).toEqual(['0/0', '1/0', '1/1']);
  });

  it('are counted by source', () => {
    const all = [candidate(0, 0, { source: 'b' }), candidate(1, 0), candidate(2, 0), candidate(3, 0, { source: 'b' })];
    expect(ids(topOfEachSource(all, 1))).toEqual(['0/0', '1/0']);
  });
});
