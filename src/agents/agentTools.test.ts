/** Tools of our own form inside an agent of the AI SDK: remembered for the group, run dry. */
import { generateText, stepCountIs, tool } from 'ai';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { cached } from '../tools/cached.js';
import { Toolbox, ToolSession } from '../tools/callTool.js';
import { dryRun } from '../tools/dryRun.js';
import { tool as define } from '../tools/tool.js';
import { agent } from './agent.js';
import { callText, finished, inputOf, nanoFormat, scripted, settingsOf, withHost } from './testSupport.js';

it('are executed once for a group, or not at all', async () => {
  const done: string[] = [];
  const parameters = z.object({ of: z.string() });
  const execute = (name: string) => (args: { of: string }) => `${done.push(`${name} ${args.of}`)}`;
  const toolbox = new Toolbox([
    cached(define({ name: 'look', description: 'Looks.', parameters, execute: execute('look') }), { scope: 'group' }),
    dryRun(define({ name: 'send', description: 'Sends.', parameters, execute: execute('send') }), ({ of }) => `dry ${of}`),
  ]);
  const made = agent({
    setUp: (rollout) => new ToolSession(toolbox, { ...rollout, timeoutSeconds: 30, shorten: (text) => text }),
    run: async ({ problem, model, state: session }) => {
      const call = (name: string) => async (args: { of: string }) => {
        const outcome = await session.call({ kind: 'call', name, arguments: args, repairs: [] });
        return outcome.kind === 'infra' ? Promise.reject(new Error(outcome.error)) : outcome.reply.text;
      };
      const tools = {
        look: tool({ inputSchema: parameters, execute: call('look') }),
        send: tool({ inputSchema: parameters, execute: call('send') }),
      };
      return (await generateText({ model, prompt: problem.question, tools, stopWhen: stepCountIs(5) })).text;
    },
    tearDown: async (session) => void (await session.close()),
  });
  const format = await nanoFormat();
  const script = (asked: string): string => {
    const results = asked.split('<tool_response>').length - 1;
    return [callText('look', { of: 'a' }), callText('send', { of: 'b' })][results] ?? 'done';
  };
  const sampler = scripted(format, script);
  const turns = await withHost(made, async (host) => {
    const on = host.on(settingsOf({ format, sampler, limits: { turnTokens: 64, responseTokens: 400, toolTokens: 48 } }));
    const groups = ['rl/0/0', 'rl/0/0', 'rl/0/1'];
    const rollouts = await Promise.all(groups.map((groupId, i) => on.run(inputOf({ groupId, trajectoryId: `${groupId}/${i}` }))));
    return rollouts.map((rollout) => finished(rollout).turns);
  });
  expect(done).toEqual(['look a', 'look a']);
  const texts = turns.map((of) => of.flatMap(({ replies }) => replies.map(({ text }) => text)));
  expect(texts[0]).toEqual(texts[1]);
  expect(texts.map(([, second]) => second)).toEqual(['dry b', 'dry b', 'dry b']);
});
