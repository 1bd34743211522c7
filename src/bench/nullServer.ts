/**
 * A Tinker server that computes nothing: it answers each request at once, samples by the script, and gives -0.5 as every log-prob. For
 * `scale.ts`. The script's size is JSON in the only argument; prints its address; ends with its standard input.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ChatFormat } from '../chat/chatFormat.js';
import { packageRoot } from '../setup/paths.js';
import { Script, type ScriptSize } from './script.js';

const size = JSON.parse(process.argv[2]!) as ScriptSize;
const script = new Script(await ChatFormat.load(join(packageRoot(), 'models', 'nano')), size);
const results = new Map<string, string>();
let requests = 0;

const OWN = {
  version: 'null',
  loss_reduction: 'sum',
  losses: { importance_sampling: [] },
  extensions: ['full_fine_tune', 'train_unembed', 'stop_token_ids'],
};

const answers: Readonly<Record<string, (body: Buffer, conversation: string) => object | string>> = {
  get_server_capabilities: () => ({ supported_models: [{ model_name: 'null' }], toolwise: OWN }),
  create_session: () => ({ session_id: 'session', type: 'create_session' }),
  session_heartbeat: () => ({ type: 'session_heartbeat' }),
  create_model: () => later({ model_id: 'model', type: 'create_model' }),
  unload_model: () => later({ model_id: 'model', type: 'unload_model' }),
  save_weights_for_sampler: () => later({ sampling_session_id: 'sampler', type: 'save_weights_for_sampler' }),
  asample: (_, conversation) => {
    const { tokens, logProbs, stop } = script.next(conversation);
    return later({ sequences: [{ tokens, logprobs: logProbs, stop_reason: stop }], type: 'sample' });
  },
  forward_backward: (body) => {
    const { forward_backward_input: input } = JSON.parse(body.toString('utf8'));
    const outputs = (input.data as { loss_fn_inputs: { target_tokens: { data: number[] } } }[]).map(({ loss_fn_inputs }) => {
      const { length } = loss_fn_inputs.target_tokens.data;
      return { logprobs: { data: new Array<number>(length).fill(-0.5), dtype: 'float32', shape: [length] } };
    });
    return later({ loss_fn_outputs: outputs, metrics: { 'loss:sum': 0 } });
  },
  retrieve_future: (body) => {
    const { request_id: id } = JSON.parse(body.toString('utf8')) as { request_id: string };
    const result = results.get(id);
    results.delete(id);
    return result ?? { error: `no request ${id}`, category: 'user' };
  },
};

function later(result: object): object {
  const id = `${++requests}`;
  results.set(id, JSON.stringify(result));
  return { request_id: id };
}

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const answer = answers[request.url!.replace('/api/v1/', '')]?.(Buffer.concat(parts), String(request.headers['x-session-id']));
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? { detail: `no ${request.url}` }));
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
process.stdin.resume().on('end', () => process.exit(0));
