/** Agents in other languages and processes: programs that are started, services that are asked. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { agentAt, agentCommand } from './agent.js';
import { callText, finished, nanoFormat, rolloutOf, scripted } from './testSupport.js';

const format = await nanoFormat();
const folder = mkdtempSync(join(tmpdir(), 'other-agents-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const LIMITS = { turnTokens: 64, responseTokens: 400, toolTokens: 48 };
const policy = () =>
  scripted(format, (asked) => (asked.includes('<tool_response>') ? '\\boxed{12}' : callText('multiply', { a: 3, b: 4 })));
const setting = (limits: object = {}) => ({ format, sampler: policy(), limits: { ...LIMITS, ...limits } });

/** Talks to its model with nothing but what Python brings. */
const PYTHON = `
import json, os, sys, urllib.request
task = json.loads(sys.stdin.readline())
def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {'content-type': 'application/json', 'authorization': 'Bearer ' + os.environ['OPENAI_API_KEY']})
    return json.load(urllib.request.urlopen(request))
messages = [{'role': 'user', 'content': task['problem']['question']}]
tools = [{'type': 'function', 'function': {'name': 'multiply', 'parameters': {'type': 'object', 'properties': {}}}}]
while True:
    message = post(os.environ['OPENAI_BASE_URL'] + '/chat/completions', {'model': task['model'], 'messages': messages, 'tools': tools})['choices'][0]['message']
    messages.append(message)
    if not message.get('tool_calls'): break
    for call in message['tool_calls']:
        given = json.loads(call['function']['arguments'])
        messages.append({'role': 'tool', 'tool_call_id': call['id'], 'content': str(given['a'] * given['b'])})
`;
const script = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const python = (name: string, end: string) => agentCommand(['python3', script(name, PYTHON + end)]);
const node = (name: string, text: string, options = {}) => agentCommand([process.execPath, script(name, text)], options);
const errorOf = async (made: Parameters<typeof rolloutOf>[0], limits?: object): Promise<string> => {
  const rollout = await rolloutOf(made, setting(limits));
  return rollout.kind === 'infra' ? rollout.error : rollout.trajectory.stopReason.kind;
};

describe('a program', () => {
  it('in any language finds its model in the environment, and prints its answer', async () => {
    const trajectory = finished(await rolloutOf(python('printing.py', "print(message['content'])"), setting()));
    expect(trajectory).toMatchObject({ finalText: '\\boxed{12}', stopReason: { kind: 'answered' } });
    expect(trajectory.turns[0]!.replies).toMatchObject([{ kind: 'executed', text: '12' }]);
    expect(trajectory.branches).toBeUndefined();
  });

  it('may print or post an answer with a reward; what is posted first stands', async () => {
    const printed = await rolloutOf(python('printing-json.py', "print(json.dumps({'answer': 'x', 'reward': {'own': 0.5}}))"), setting());
    expect(finished(printed)).toMatchObject({ finalText: 'x', givenReward: { total: 0.5, parts: { own: 0.5 } } });
    const twice = `
import urllib.error
end = task['rolloutUrl'] + '/end'
post(end, {'answer': 'posted', 'reward': 1})
try: post(end, {'answer': 'again'})
except urllib.error.HTTPError as error: open(${JSON.stringify(join(folder, 'second'))}, 'w').write(str(error.code))
print('printed')
`;
    expect(finished(await rolloutOf(python('posting.py', twice), setting()))).toMatchObject({
      finalText: 'posted',
      givenReward: { total: 1 },
    });
    expect(readFileSync(join(folder, 'second'), 'utf8')).toBe('409');
  });

  it('that fails says how: by its status and last words, without an answer, by an error that it posts', async () => {
    expect(await errorOf(node('exit.mjs', "console.error('no paper'); process.exit(3)"))).toBe(
      'the agent failed: it ended with status 3: no paper',
    );
    expect(await errorOf(node('silent.mjs', ''))).toBe(
      'the agent failed: it ended without an answer: it printed nothing, and posted nothing',
    );
    expect(await errorOf(node('bad.mjs', 'console.log(\'{"answer": 5}\')'))).toBe(
      'the agent failed: the JSON that it printed has an "answer" that is no text',
    );
    expect(await errorOf(agentCommand(['python3', '-c', "while True: print('x' * 10000)"]))).toContain(
      'it printed more than 1048576 characters',
    );
    expect(await errorOf(python('error.py', "post(task['rolloutUrl'] + '/end', {'error': 'out of stock'})"))).toBe(
      'the agent failed: out of stock',
    );
  });

  it('that cannot be started ends the run, with its name', async () => {
    await expect(rolloutOf(agentCommand(['no-such-program-here']), setting())).rejects.toThrow(
      'the agent cannot be used: no-such-program-here could not be started',
    );
  });

  it('is told the problem as JSON can carry it', async () => {
    const problem = { id: 'p', question: 'x', big: 12n, run: () => 1 } as never;
    const telling = agentCommand(['python3', '-c', "import json, sys; print(json.load(sys.stdin)['problem'])"]);
    expect(finished(await rolloutOf(telling, setting(), { problem })).finalText).toBe("{'id': 'p', 'question': 'x', 'big': '12'}");
    const loop: { id: string; question: string; self?: unknown } = { id: 'p', question: 'x' };
    loop.self = loop;
    await expect(rolloutOf(telling, setting(), { problem: loop })).rejects.toThrow(
      'the agent cannot be used: python3 could not be started: TypeError',
    );
  });

  it('is ended with its children at the deadline, also where it does not listen', async () => {
    const beat = join(folder, 'beat');
    const child = `setInterval(() => require('node:fs').appendFileSync(${JSON.stringify(beat)}, 'x'), 10); process.on('SIGTERM', () => {})`;
    const stubborn = node(
      'stubborn.mjs',
      `import { spawn } from 'node:child_process';
       spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' });
       process.on('SIGTERM', () => {});
       setInterval(() => {}, 1000);`,
    );
    expect(await errorOf(stubborn, { deadlineSeconds: 1.5 })).toBe('the agent neither asked its model nor answered within 1.5 s');
    const size = (): number => (existsSync(beat) ? readFileSync(beat, 'utf8').length : 0);
    const before = size();
    expect(before).toBeGreaterThan(0);
    await sleep(150);
    expect(size()).toBe(before);
  });

  it('that leaves a child behind has it ended when it has answered', async () => {
    const beat = join(folder, 'left');
    const child = `setInterval(() => require('node:fs').appendFileSync(${JSON.stringify(beat)}, 'x'), 10)`;
    const leaving = node(
      'leaving.mjs',
      `import { existsSync } from 'node:fs';
       import { spawn } from 'node:child_process';
       spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'ignore' }).unref();
       const timer = setInterval(() => { if (existsSync(${JSON.stringify(beat)})) { clearInterval(timer); console.log('done'); } }, 10);`,
    );
    expect(finished(await rolloutOf(leaving, setting())).finalText).toBe('done');
    const { length } = readFileSync(beat, 'utf8');
    await sleep(150);
    expect(readFileSync(beat, 'utf8')).toHaveLength(length);
  });

  it('is refused where it is no list of texts', () => {
    expect(() => agentCommand([])).toThrow('the program first');
    expect(() => agentCommand(['python', 5 as never])).toThrow('the program first');
  });
});

describe('a service', () => {
  let server: Server | undefined;
  afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())));

  // biome-ignore lint/suspicious/noExplicitAny: the task's JSON
  async function serving(answer: (task: any, response: ServerResponse) => unknown): Promise<string> {
    server = createServer(async (request: IncomingMessage, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      await answer(JSON.parse(Buffer.concat(parts).toString()), response);
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the task's JSON
  const post = ({ apiKey }: any, url: string, body: object): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('is sent the problem and where its model is, and answers at once, or posts its answer later', async () => {
    const url = await serving(async (task, response) => {
      const answered = await post(task, `${task.baseUrl}/chat/completions`, {
        model: task.model,
        messages: [{ role: 'user', content: task.problem.question }],
      });
      // biome-ignore lint/suspicious/noExplicitAny: the wire's JSON
      const text = ((await answered.json()) as any).choices[0].message.content;
      if (task.trajectoryId.endsWith('later')) {
        response.writeHead(202).end();
        await sleep(30);
        await post(task, `${task.rolloutUrl}/end`, { answer: 'later', reward: 0.25 });
        return;
      }
      response.end(JSON.stringify({ answer: text }));
    });
    const now = finished(await rolloutOf(agentAt(url), setting()));
    expect(now.finalText).toContain('multiply');
    expect(now.mask).toContain(1);
    const later = finished(await rolloutOf(agentAt(url), setting(), { trajectoryId: 'rl/0/0/later' }));
    expect(later).toMatchObject({ finalText: 'later', givenReward: { total: 0.25 } });
  });

  it('that fails says how; one that never answers ends at the deadline', async () => {
    const said: Record<string, (response: ServerResponse) => void> = {
      broken: (response) => response.writeHead(500).end('out of order'),
      text: (response) => response.end('no JSON'),
      moved: (response) => response.writeHead(307, { location: 'http://192.0.2.1/' }).end(),
      gone: (response) => response.destroy(),
    };
    const url = await serving(({ trajectoryId }, response) => said[trajectoryId]?.(response));
    const lost = async (trajectoryId: string) => {
      const rollout = await rolloutOf(agentAt(url), setting({ deadlineSeconds: trajectoryId === 'never' ? 0.3 : 30 }), { trajectoryId });
      return rollout.kind === 'infra' ? rollout.error : '';
    };
    expect(await lost('broken')).toBe(`the agent failed: ${url} answered with status 500: out of order`);
    expect(await lost('text')).toContain('gave no answer: SyntaxError');
    expect(await lost('moved')).toContain('redirect');
    expect(await lost('gone')).toContain('gave no answer');
    expect(await lost('never')).toContain('within 0.3 s');
  });

  it('is on this machine', () => {
    expect(() => agentAt('http://192.168.0.7/agent')).toThrow('on another machine');
    expect(() => agentAt('file:///etc/passwd')).toThrow('no http address');
    expect(() => agentAt('agent')).toThrow('no http address');
    expect(agentAt('http://[::1]:8000/run').kind).toBe('service');
  });
});
