/** A sampler for tests that writes given turns. It samples nothing: the texts are encoded and ended by a stop token. */
import type { ChatFormat } from '../../src/chat/chatFormat.js';
import type { Sample, SampleRequest, Sampler } from '../../src/engine/sampler.js';

/** A turn's text; or an outcome to throw; undefined never answers. */
export type Script = (request: SampleRequest, context: string, call: number) => string | Error | Partial<Sample> | undefined;

export interface ScriptedSampler extends Sampler {
  readonly requests: SampleRequest[];
}

export function scriptedSampler(format: ChatFormat, script: Script, policyVersion = 3): ScriptedSampler {
  const requests: SampleRequest[] = [];
  return {
    policyVersion,
    requests,
    async sample(request) {
      const call = requests.push(request) - 1;
      const said = script(request, format.decode(request.prompt), call);
      if (said === undefined) return new Promise<Sample>(() => undefined);
      if (said instanceof Error) throw said;
      if (typeof said !== 'string') return { tokens: [], logProbs: [], stop: 'stop', ...said };
      const all = [...format.encode(said), format.stopTokenIds[0]!];
      const tokens = all.slice(0, request.maxTokens);
      return { tokens, logProbs: tokens.map((_, i) => -0.25 - i / 1024), stop: tokens.length < all.length ? 'length' : 'stop' };
    },
  };
}
