/** Connects to an engine that serves the Tinker HTTP API, our own or another's. Does not start one: see `embedded.ts`. */
import type { Engine } from './engine.js';
import { EngineError } from './engineError.js';
import { field } from './futures.js';
import type { Sampler } from './sampler.js';
import { TinkerSampler } from './tinkerSampler.js';
import { type ConnectOptions, TinkerSession } from './tinkerSession.js';
import { createTinkerTrainer } from './tinkerTrainer.js';

/** @throws UserError for a wrong address or a key that must not be sent there; EngineError when nobody answers or the key is refused */
export async function connectEngine(options: ConnectOptions): Promise<Engine> {
  return engineOver(await TinkerSession.open(options));
}

/** The engine of an open session. */
export function engineOver(session: TinkerSession): Engine {
  const sampler = async (source: { readonly base_model: string } | { readonly model_path: string }, version: number): Promise<Sampler> => {
    const answer = await session.ask('create_sampling_session', {
      session_id: session.id,
      sampling_session_seq_id: session.nextSamplingSession(),
      ...source,
      type: 'create_sampling_session',
    });
    const id = field(answer, 'sampling_session_id');
    if (typeof id !== 'string') throw new EngineError('server', 'create_sampling_session: the answer has no sampling_session_id');
    return new TinkerSampler(session, id, version);
  };
  /** Only our own engine remembers how many updates a checkpoint had seen. */
  const versionOf = async (path: string): Promise<number> => {
    if (session.profile.name !== 'toolwise') return 0;
    const version = field(await session.ask('weights_info', { tinker_path: path }), 'policy_version');
    return typeof version === 'number' ? version : 0;
  };
  return {
    url: session.transport.url,
    capabilities: session.capabilities,
    createTrainer: (options) => createTinkerTrainer(session, options),
    baseSampler: (model) => sampler({ base_model: model }, 0),
    samplerFrom: async (path) => sampler({ model_path: path }, await versionOf(path)),
    deleteCheckpoint: (path) => session.deleteCheckpoint(path),
    close: () => session.end(new EngineError('connection', 'the connection to the engine was closed')),
  };
}
