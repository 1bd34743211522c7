import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { chatFormatOf, scriptedRollout } from '../../test/support/rolloutSettings.js';
import type { Script } from '../../test/support/scriptedSampler.js';
import type { ChatFormat } from '../chat/chatFormat.js';
import type { Problem } from '../domain/problem.js';
import { EngineError } from '../engine/engineError.js';
import type { Limits } from '../recipe/schema.js';
import { tool } from '../tools/tool.js';
import type { RolloutSettings } from './episode.js';
import { InfrastructureStop, planGroups, runRollouts, streamRollouts } from './scheduler.js';

let format: ChatFormat;
beforeAll(async () => {
  format = await chatFormatOf();
});

const echo = tool({
  name: 'echo',
  description: 'Gives the text back, after a while.',
  parameters: z.object({ text: z.string() }),
  execute: async ({ text }) => {
    await new Promise((resolve) => setTimeout(resolve, text.length % 4));
    return text;
  },
});

const problems: Problem[] = ['a', 'bb', 'ccc'].map((id) => ({ id, question: `Say ${id}.` }));
const CALL = '<tool_call>{"name": "echo", "arguments": {"text": "hm"}}</tool_call>';

const settingsFor = (script: Script, limits: Partial<Limits> = {}) => scriptedRollout(format, script, [echo], { limits });

const OPTIONS = { runSeed: 7, step: 2, concurrency: 4 };
const twoTurns: Script = (_, context) => (context.includes('tool_response') ? 'done' : CALL);
/** As many calls as the problem's name has letters. */
const byName: Script = (_, context) => {
  const letters = /Say (\w+)\./.exec(context)![1]!.length;
  return context.split('<tool_response>').length - 1 < letters ? CALL : 'done';
};

describe.each([false, true])('with lockstep %s', (lockstep) => {
  it('gives one rollout a plan, in order, and each group once, when it is complete', async () => {
    const plans = planGroups(problems, 3, 'step2');
    const { settings } = settingsFor(byName);
    const groups: string[][] = [];
    const rollouts = await runRollouts(plans, settings, {
      ...OPTIONS,
      lockstep,
      onGroup: async (members, groupId) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        groups.push([groupId, ...members.map((member) => (member.kind === 'finished' ? member.trajectory.trajectoryId : 'lost'))]);
      },
    });
    expect(rollouts.map((rollout) => rollout.kind === 'finished' && rollout.trajectory.trajectoryId)).toEqual(
      plans.map(({ trajectoryId }) => trajectoryId),
    );
    expect(groups.sort()).toEqual([0, 1, 2].map((n) => [`step2/${n}`, `step2/${n}/0`, `step2/${n}/1`, `step2/${n}/2`]));
  });

  it('never shares a seed between two samples, and repeats them', async () => {
    const seeds = async (): Promise<number[]> => {
      const { sampler, settings } = settingsFor(byName);
      await runRollouts(planGroups(problems, 4, 's'), settings, { ...OPTIONS, lockstep });
      return sampler.requests.map(({ seed }) => seed).sort((a, b) => a - b);
    };
    const first = await seeds();
    expect(new Set(first).size).toBe(first.length);
    expect(await seeds()).toEqual(first);
  });

  it('runs a lost member once more under new seeds; lost again, its group goes on without it', async () => {
    const { sampler, settings } = settingsFor((_, context) =>
      context.includes('Say bb.') ? new EngineError('server', 'bb is cursed') : 'done',
    );
    const groups = new Map<string, string[]>();
    const rollouts = await runRollouts(planGroups(problems, 2, 's'), settings, {
      ...OPTIONS,
      lockstep,
      onGroup: (members, groupId) =>
        void groups.set(
          groupId,
          members.map(({ kind }) => kind),
        ),
    });
    expect(rollouts.filter(({ kind }) => kind === 'infra')).toHaveLength(2);
    expect(Object.fromEntries(groups)).toEqual({
      's/0': ['finished', 'finished'],
      's/1': ['infra', 'infra'],
      's/2': ['finished', 'finished'],
    });
    const cursed = sampler.requests.filter(({ prompt }) => format.decode(prompt).includes('Say bb.')).map(({ seed }) => seed);
    expect(cursed).toHaveLength(12);
    expect(new Set(cursed).size).toBe(12);
  });

  it('stops after many losses in a row, and says why', async () => {
    const { sampler, settings } = settingsFor(() => new EngineError('connection', 'nobody there'));
    const run = runRollouts(planGroups(problems, 20, 's'), settings, { ...OPTIONS, lockstep, maxInfraInARow: 5 });
    await expect(run).rejects.toThrow(InfrastructureStop);
    await expect(run).rejects.toThrow(/5 rollouts in a row.*nobody there/);
    expect(sampler.requests.length).toBeLessThan(60);
  });

  it('ends with the caller’s signal', async () => {
    const abort = new AbortController();
    const { settings } = settingsFor(() => {
      abort.abort(new Error('interrupted'));
      return undefined;
    });
    await expect(runRollouts(planGroups(problems, 2, 's'), settings, { ...OPTIONS, lockstep, signal: abort.signal })).rejects.toThrow(
      'interrupted',
    );
  });

  it('ends with what a group’s handler threw', async () => {
    const { settings } = settingsFor(twoTurns);
    const onGroup = async (): Promise<void> => Promise.reject(new Error('grader broke'));
    await expect(runRollouts(planGroups(problems, 2, 's'), settings, { ...OPTIONS, lockstep, onGroup })).rejects.toThrow('grader broke');
  });

  it('refuses a prompt that is too long before anything is sampled', async () => {
    const { sampler, settings } = settingsFor(twoTurns, { promptTokens: 20 });
    await expect(runRollouts(planGroups(problems, 1, 's'), settings, { ...OPTIONS, lockstep })).rejects.toMatchObject({
      name: 'UserError',
      message: expect.stringMatching(/problem "a" has \d+ tokens; at most 20/),
    });
    expect(sampler.requests).toEqual([]);
  });

  it('has nothing to do for no plans', async () => {
    expect(await runRollouts([], settingsFor(twoTurns).settings, { ...OPTIONS, lockstep })).toEqual([]);
  });
});

it('keeps at most as many rollouts in flight as allowed', async () => {
  const { sampler, settings } = settingsFor(twoTurns);
  let flying = 0;
  let most = 0;
  const counting: RolloutSettings = {
    ...settings,
    sampler: {
      policyVersion: 0,
      sample: async (request) => {
        most = Math.max(most, ++flying);
        await new Promise((resolve) => setTimeout(resolve, 1));
        flying--;
        return sampler.sample(request);
      },
    },
  };
  await runRollouts(planGroups(problems, 8, 's'), counting, { ...OPTIONS, concurrency: 3 });
  expect(most).toBe(3);
});

it('in lockstep sends all live rollouts as one batch, in plan order, however fast their tools are', async () => {
  const { sampler, settings } = settingsFor(byName);
  await runRollouts(planGroups(problems, 2, 's'), settings, { ...OPTIONS, concurrency: 6, lockstep: true });
  const batches = new Map<string, [size: number, index: number][]>();
  for (const { lockstep } of sampler.requests) {
    const { key, size, index } = lockstep!;
    batches.set(key, [...(batches.get(key) ?? []), [size, index]]);
  }
  expect([...batches.values()]).toEqual([6, 6, 4, 2].map((size) => Array.from({ length: size }, (_, index) => [size, index])));
  expect(sampler.requests.slice(12, 16).map(({ prompt }) => /Say (\w+)/.exec(format.decode(prompt))![1])).toEqual([
    'bb',
    'bb',
    'ccc',
    'ccc',
  ]);
});

describe.each([false, true])('streaming with lockstep %s', (lockstep) => {
  it('hands over each rollout before its group, and each group once', async () => {
    const { settings } = settingsFor(byName);
    const told: string[] = [];
    await streamRollouts(planGroups(problems, 2, 's'), settings, {
      ...OPTIONS,
      lockstep,
      onRollout: async (_, { groupId, sample }) => {
        await new Promise((resolve) => setTimeout(resolve, 3));
        told.push(`${groupId}/${sample}`);
      },
      onGroup: (members, groupId) => void told.push(`${groupId} of ${members.filter(({ kind }) => kind === 'finished').length}`),
    });
    for (const n of [0, 1, 2]) {
      const own = told.filter((line) => line.startsWith(`s/${n}`));
      expect(own).toHaveLength(3);
      expect(own.at(-1)).toBe(`s/${n} of 2`);
    }
  });

  it('ends with what a rollout’s handler threw, and refuses a long prompt before anything is sampled', async () => {
    const { settings, sampler } = settingsFor(twoTurns);
    const onRollout = async (): Promise<void> => Promise.reject(new Error('disk full'));
    await expect(streamRollouts(planGroups(problems, 2, 's'), settings, { ...OPTIONS, lockstep, onRollout })).rejects.toThrow('disk full');
    const before = sampler.requests.length;
    const long: Problem[] = [...problems, { id: 'long', question: 'x '.repeat(9000) }];
    await expect(streamRollouts(planGroups(long, 1, 's'), settings, { ...OPTIONS, lockstep })).rejects.toThrow(/prompt of problem "long"/);
    expect(sampler.requests.length).toBe(before);
  });
});

it('streaming samples no further while as many handlers run as rollouts may be in flight', async () => {
  const { settings, sampler } = settingsFor(() => 'done');
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let handling = 0;
  const running = streamRollouts(planGroups(problems, 20, 's'), settings, {
    ...OPTIONS,
    concurrency: 4,
    onRollout: async () => {
      if (++handling === 4) setTimeout(release, 50);
      await held;
      handling--;
    },
  });
  await held;
  expect(handling).toBe(4);
  expect(sampler.requests).toHaveLength(4);
  await running;
  expect(sampler.requests).toHaveLength(60);
});
