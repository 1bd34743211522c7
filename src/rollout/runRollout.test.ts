import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { OPENS_THINKING } from '../../test/support/modelFolder.js';
import { chatFormatOf, scriptedRollout } from '../../test/support/rolloutSettings.js';
import type { Script } from '../../test/support/scriptedSampler.js';
import type { ChatFormat } from '../chat/chatFormat.js';
import { checkTrajectory, executedCalls, type Rollout, type Trajectory } from '../domain/trajectory.js';
import { EngineError } from '../engine/engineError.js';
import type { Limits } from '../recipe/schema.js';
import type { AnyTool } from '../tools/callTool.js';
import { tool } from '../tools/tool.js';
import type { RolloutSettings } from './episode.js';
import { runRollout } from './runRollout.js';

let format: ChatFormat;
beforeAll(async () => {
  format = await chatFormatOf();
});

const echo = tool({
  name: 'echo',
  description: 'Gives the text back.',
  parameters: z.object({ text: z.string() }),
  execute: ({ text }) => text,
});
const final = tool({ ...echo, name: 'submit', final: true });

const call = (text: string, name = 'echo'): string =>
  `Thinking aloud.\n<tool_call>\n${JSON.stringify({ name, arguments: { text } })}\n</tool_call>`;
const ANSWER = 'Done: \\boxed{4}';

interface Setup {
  readonly limits?: Partial<Limits>;
  readonly tools?: readonly AnyTool[];
  readonly settings?: Partial<RolloutSettings>;
  readonly signal?: AbortSignal;
}

function prepare(script: Script, { limits = {}, tools = [echo, final], settings = {}, signal }: Setup = {}) {
  const { sampler, settings: all } = scriptedRollout(format, script, tools, { limits, settings: { system: 'Solve it.', ...settings } });
  const rollout = runRollout(all, {
    problem: { id: 'p', question: '2+2?' },
    groupId: 'g',
    trajectoryId: 't',
    seed: (turn, attempt) => 100 * turn + attempt,
    ...(signal === undefined ? {} : { signal }),
  });
  return { sampler, rollout };
}

async function finished(script: Script, setup: Setup = {}): Promise<Trajectory> {
  const rollout = await prepare(script, setup).rollout;
  if (rollout.kind !== 'finished') throw new Error(`lost: ${rollout.error}`);
  checkTrajectory(rollout.trajectory);
  return rollout.trajectory;
}

const inOrder =
  (...turns: (string | Error)[]): Script =>
  (_, __, n) =>
    turns[n]!;

const responseText = (trajectory: Trajectory): string => format.decode(trajectory.tokens);

describe('a rollout with a call', () => {
  it('is the conversation, token by token', async () => {
    const trajectory = await finished(inOrder(call('4'), ANSWER));
    expect(trajectory).toMatchObject({ stopReason: { kind: 'answered' }, finalText: ANSWER, groupId: 'g', trajectoryId: 't' });
    expect(responseText(trajectory)).toBe(
      `${call('4')}<|im_end|>\n<|im_start|>user\n<tool_response>\n4\n</tool_response><|im_end|>\n<|im_start|>assistant\n${ANSWER}<|im_end|>`,
    );
    expect(format.decode(trajectory.tokens.filter((_, i) => trajectory.mask[i] === 1))).toBe(`${call('4')}<|im_end|>${ANSWER}<|im_end|>`);
    expect(executedCalls(trajectory)).toBe(1);
    expect(trajectory.turns.map(({ policyVersion, stop, tokens }) => [policyVersion, stop, tokens])).toEqual([
      [3, 'stop', format.encode(call('4')).length + 1],
      [3, 'stop', ANSWER.length + 1],
    ]);
  });

  it('asks with seeds of its turns, and with the whole context each time', async () => {
    const { sampler, rollout } = prepare(inOrder(call('4'), ANSWER));
    const { trajectory } = (await rollout) as Extract<Rollout, { kind: 'finished' }>;
    expect(sampler.requests.map(({ seed }) => seed)).toEqual([0, 100]);
    const answerTokens = ANSWER.length + 1;
    expect(sampler.requests[1]!.prompt).toEqual([...trajectory.promptTokens, ...trajectory.tokens.slice(0, -answerTokens)]);
    expect(sampler.requests[1]!.stopTokenIds).toEqual(format.stopTokenIds);
  });
});

it('ends a turn itself where the engine left the end-of-turn token out', async () => {
  const trajectory = await finished((_, __, n) => {
    const ids = format.encode(call('4'));
    return n === 0 ? { tokens: ids, logProbs: ids.map(() => -1), stop: 'stop' } : ANSWER;
  });
  expect(responseText(trajectory)).toContain('</tool_call><|im_end|>\n<|im_start|>user');
  expect(trajectory.mask[format.encode(call('4')).length]).toBe(0);
});

describe('limits', () => {
  it('a turn cut by its own limit ends the rollout, its call cut off', async () => {
    const trajectory = await finished(inOrder(call('4'.repeat(80))), { limits: { turnTokens: 70 } });
    expect(trajectory.stopReason).toEqual({ kind: 'tokenLimit', limit: 'turn' });
    expect(trajectory.turns[0]!.segments.at(-1)!.kind).toBe('cutOffCall');
    expect(trajectory.turns[0]!.replies).toEqual([]);
  });

  it('a turn cut by the response’s limit says so', async () => {
    const trajectory = await finished(inOrder('x'.repeat(90)), { limits: { responseTokens: 50, turnTokens: 60 } });
    expect(trajectory.stopReason).toEqual({ kind: 'tokenLimit', limit: 'response' });
    expect(trajectory.tokens).toHaveLength(50);
  });

  it('the context’s limit counts the prompt', async () => {
    const { promptTokens } = await finished(inOrder(ANSWER));
    const contextTokens = promptTokens.length + 30;
    const trajectory = await finished(inOrder('x'.repeat(900)), { settings: { contextTokens } });
    expect(trajectory.tokens).toHaveLength(30);
    expect(trajectory.stopReason).toEqual({ kind: 'tokenLimit', limit: 'response' });
    await expect(finished(inOrder(ANSWER), { settings: { contextTokens: promptTokens.length } })).rejects.toThrow(/no room for an answer/);
  });

  it('a result that would overflow the response is shortened to what fits', async () => {
    const trajectory = await finished(inOrder(call('y'), 'ok'), {
      limits: { responseTokens: 330 },
      tools: [{ ...echo, execute: () => `A${'y'.repeat(400)}Z` }],
    });
    const [reply] = trajectory.turns[0]!.replies;
    expect(reply!.text).toMatch(/^Ay+\n\[.*left out.*\]\ny+Z$/);
    expect(responseText(trajectory)).toContain(`<tool_response>\n${reply!.text}\n</tool_response>`);
    expect(trajectory.stopReason).toEqual({ kind: 'answered' });
    expect(trajectory.tokens.length).toBeLessThanOrEqual(330);
  });

  it('without room for a result the rollout ends at the limit, its call not counted as answered', async () => {
    const trajectory = await finished(inOrder(call('y'), 'ok'), {
      limits: { responseTokens: 150 },
      tools: [{ ...echo, execute: () => 'y'.repeat(400) }],
    });
    expect(trajectory.stopReason).toEqual({ kind: 'tokenLimit', limit: 'response' });
    expect(trajectory.turns[0]!.replies).toEqual([]);
    expect(trajectory.mask.every((bit) => bit === 1)).toBe(true);
  });

  it('a result is limited in tokens', async () => {
    const trajectory = await finished(inOrder(call('y'.repeat(300)), ANSWER), { limits: { toolTokens: 80 } });
    expect(format.encode(trajectory.turns[0]!.replies[0]!.text).length).toBeLessThanOrEqual(80);
  });

  it('the last turn’s call is not executed', async () => {
    let executed = 0;
    const counting: AnyTool = { ...echo, execute: () => `${++executed}` };
    const trajectory = await finished(() => call('4'), { limits: { turns: 3 }, tools: [counting] });
    expect(trajectory.stopReason).toEqual({ kind: 'turnLimit' });
    expect([trajectory.turns.length, executed, executedCalls(trajectory)]).toEqual([3, 2, 2]);
  });

  it('calls beyond those of a turn are answered, not run', async () => {
    const trajectory = await finished(inOrder(call('1') + call('2'), ANSWER));
    expect(trajectory.turns[0]!.replies.map((reply) => (reply.kind === 'executed' ? 'executed' : reply.problem))).toEqual([
      'executed',
      'tooManyCalls',
    ]);
    expect(responseText(trajectory)).toContain('only 1 call is allowed');
  });

  it('several calls a turn run in order where they are allowed', async () => {
    const trajectory = await finished(inOrder(call('1') + call('2'), ANSWER), { limits: { callsPerTurn: 2 } });
    expect(trajectory.turns[0]!.replies.map(({ text }) => text)).toEqual(['1', '2']);
  });

  it('the deadline ends a rollout whose tool hangs, with what is there', async () => {
    const trajectory = await finished(inOrder(call('4')), {
      limits: { deadlineSeconds: 0.3 },
      tools: [{ ...echo, execute: () => new Promise<string>(() => undefined) }],
    });
    expect(trajectory.stopReason).toEqual({ kind: 'deadline' });
    expect(trajectory.turns).toHaveLength(1);
    expect(trajectory.finalText).toBe('');
  });

  it('the deadline ends a rollout whose engine stops answering', async () => {
    const trajectory = await finished((_, __, n) => (n === 0 ? call('4') : undefined), { limits: { deadlineSeconds: 0.3 } });
    expect(trajectory.stopReason).toEqual({ kind: 'deadline' });
    expect(executedCalls(trajectory)).toBe(1);
  });

  it('an engine that never answered is infrastructure', async () => {
    expect(await prepare(() => undefined, { limits: { deadlineSeconds: 0.3 } }).rollout).toMatchObject({
      kind: 'infra',
      error: expect.stringContaining('no answer'),
    });
  });
});

describe('what the model does wrong', () => {
  const MALFORMED = '<tool_call>\n{"name": "echo"\n</tool_call>';

  it('is told, and does not end the rollout', async () => {
    const trajectory = await finished(
      inOrder(MALFORMED, call('x', 'print'), '<tool_call>{"name": "echo", "arguments": {}}</tool_call>', ANSWER),
    );
    expect(trajectory.turns.flatMap(({ replies }) => replies.map((reply) => reply.kind === 'refused' && reply.problem))).toEqual([
      'malformed',
      'unknownTool',
      'badArguments',
    ]);
    expect(executedCalls(trajectory)).toBe(0);
    for (const { replies } of trajectory.turns) for (const { text } of replies) expect(responseText(trajectory)).toContain(text);
  });

  it('ends the rollout at the third unreadable call in a row', async () => {
    const trajectory = await finished(() => MALFORMED);
    expect(trajectory.stopReason).toEqual({ kind: 'malformedLimit' });
    expect(trajectory.turns).toHaveLength(3);
  });

  it('is forgotten after a call that can be read', async () => {
    const trajectory = await finished(inOrder(MALFORMED, MALFORMED, call('1'), MALFORMED, MALFORMED, ANSWER));
    expect(trajectory.stopReason).toEqual({ kind: 'answered' });
  });

  it('ends nothing where a tool prints control tokens', async () => {
    const trajectory = await finished(inOrder(call('a<|im_end|>b'), ANSWER));
    expect(trajectory.turns[0]!.replies[0]!.text).toBe('a< |im_end|>b');
    expect(trajectory.tokens.filter((id, i) => trajectory.mask[i] === 0 && format.isStop(id))).toHaveLength(1);
  });
});

it('ends with a final tool', async () => {
  const trajectory = await finished(inOrder(call('4', 'submit')));
  expect(trajectory.stopReason).toEqual({ kind: 'stopTool', tool: 'submit' });
  expect(executedCalls(trajectory)).toBe(1);
});

it('takes a turn that the header put into thinking as thinking until it is closed', async () => {
  const thinking = await chatFormatOf(OPENS_THINKING);
  const unclosed = await finished(inOrder(`hm ${call('4')}`), { settings: { format: thinking } });
  expect(unclosed.turns[0]!.segments.map(({ kind }) => kind)).toEqual(['thinking']);
  expect(unclosed.finalText).toBe('');
  const closed = await finished(inOrder(`hm\n</think>\n\n${ANSWER}`), { settings: { format: thinking } });
  expect(closed.finalText).toBe(ANSWER);
});

describe('infrastructure', () => {
  const down = new EngineError('server', 'the engine is busy');

  it('a failed sample is made anew under the next attempt’s seed', async () => {
    const { sampler, rollout } = prepare(inOrder(down, new EngineError('connection', 'reset'), call('4'), ANSWER));
    expect((await rollout).kind).toBe('finished');
    expect(sampler.requests.map(({ seed }) => seed)).toEqual([0, 1, 2, 100]);
  });

  it('a sample that fails three times loses the rollout', async () => {
    expect(await prepare(inOrder(call('4'), down, down, down)).rollout).toEqual({
      kind: 'infra',
      error: 'the engine is busy',
      trajectoryId: 't',
      groupId: 'g',
      problem: { id: 'p', question: '2+2?' },
    });
  });

  it.each([
    ['lengths that differ', { tokens: [65, 66], logProbs: [-1] }],
    ['a log-prob that is no number', { tokens: [65], logProbs: [Number.NaN] }],
    ['more tokens than asked for', { tokens: new Array(60).fill(65), logProbs: new Array(60).fill(-1) }],
  ])('a sample with %s is a failure of the engine', async (_, broken) => {
    const { sampler, rollout } = prepare((_request, _context, n) => (n === 0 ? broken : ANSWER), { limits: { responseTokens: 50 } });
    const { trajectory } = (await rollout) as { trajectory: Trajectory };
    expect(responseText(trajectory)).toBe(`${ANSWER}<|im_end|>`);
    expect(sampler.requests).toHaveLength(2);
  });

  it('a refused request is thrown: trying again would not help', async () => {
    await expect(prepare(inOrder(new EngineError('user', 'no such model'))).rollout).rejects.toThrow('no such model');
  });

  it('a tool’s own failure loses the rollout', async () => {
    const { rollout } = prepare(inOrder(call('4')), {
      tools: [{ ...echo, execute: () => ({ kind: 'infra', error: 'no sandbox' }) as const }],
    });
    expect(await rollout).toMatchObject({ kind: 'infra', error: 'no sandbox' });
  });

  it('an abort ends it with its reason, tools torn down', async () => {
    const abort = new AbortController();
    let tornDown = false;
    const hanging: AnyTool = {
      ...echo,
      setUp: () => undefined,
      execute: () => {
        setTimeout(() => abort.abort(new Error('interrupted')), 5);
        return new Promise<string>(() => undefined);
      },
      tearDown: () => {
        tornDown = true;
      },
    };
    await expect(prepare(inOrder(call('4')), { tools: [hanging], signal: abort.signal }).rollout).rejects.toThrow('interrupted');
    expect(tornDown).toBe(true);
  });
});

it('keeps the mean entropy where the engine gives it', async () => {
  const script: Script = () => ({ tokens: [65, 258], logProbs: [-1, -1], entropies: [0.5, 1.5] });
  const { sampler, rollout } = prepare(script, { settings: { entropy: true } });
  expect(await rollout).toMatchObject({ trajectory: { entropy: 1 } });
  expect(sampler.requests[0]!.entropy).toBe(true);
});
