import { describe, expect, it } from 'vitest';
import { play } from './play.js';
import { counting, GOAL, type Happening } from './testSupport.js';

describe('play', () => {
  it('lets a script act, and gives the conversation as a policy would have had it', async () => {
    const seen: string[] = [];
    const { messages, outcome } = await play(counting(), {
      problem: GOAL,
      seed: 4,
      player: ({ observation, turn, problem }) => {
        seen.push(observation);
        if (turn === 0) return { action: 'add', arguments: { n: 'two' } };
        return { action: 'add', arguments: { n: turn === 1 ? 2 : problem.goal - 2 }, text: 'On.' };
      },
    });
    const question = 'Count to 5.\n\nThe counter is at 0. Seed 4.';
    const wrong = expect.stringContaining('Error: wrong arguments for add: "n"');
    expect(seen).toEqual([question, wrong, '2']);
    expect(messages).toEqual([
      { role: 'user', content: question },
      { role: 'assistant', content: '', toolCalls: [{ name: 'add', arguments: { n: 'two' } }] },
      { role: 'tool', name: 'add', content: wrong },
      { role: 'assistant', content: 'On.', toolCalls: [{ name: 'add', arguments: { n: 2 } }] },
      { role: 'tool', name: 'add', content: '2' },
      { role: 'assistant', content: 'On.', toolCalls: [{ name: 'add', arguments: { n: 3 } }] },
    ]);
    expect(outcome).toMatchObject({ steps: 2, done: true, success: true, rewards: { 'env/step': 0.625, 'env/final': 1 } });
  });

  it('ends with a text, or with the last turn, whose call is not run', async () => {
    const text = await play(counting(), { problem: GOAL, seed: 1, player: () => 'no' });
    expect(text).toMatchObject({ messages: [{}, { role: 'assistant', content: 'no' }], outcome: { steps: 0, success: false } });
    const cut = await play(counting(), { problem: GOAL, seed: 1, player: () => ({ action: 'add', arguments: { n: 1 } }), turns: 3 });
    expect(cut.outcome).toMatchObject({ steps: 2, done: false });
    expect(cut.messages.at(-1)).toMatchObject({ role: 'assistant' });
  });

  it('tears down whatever happens, and throws what went wrong', async () => {
    const happened: Happening[] = [];
    const throwing = () => {
      throw new Error('no idea');
    };
    await expect(play(counting(happened), { problem: GOAL, seed: 1, player: throwing })).rejects.toThrow('no idea');
    const failing = counting(happened, {
      score: () => {
        throw new Error('no ruler');
      },
    });
    await expect(play(failing, { problem: GOAL, seed: 1, player: () => 'done' })).rejects.toThrow('no ruler');
    expect(happened.map(([what]) => what)).toEqual(['reset', 'tearDown', 'reset', 'tearDown']);
    const stuck = counting([], { tearDown: () => Promise.reject(new Error('stuck')) });
    await expect(play(stuck, { problem: GOAL, seed: 1, player: () => 'done' })).rejects.toThrow('stuck');
    const closed = counting([], { reset: () => Promise.reject(new Error('closed')) });
    await expect(play(closed, { problem: GOAL, seed: 1, player: () => 'done' })).rejects.toThrow('closed');
  });
});
