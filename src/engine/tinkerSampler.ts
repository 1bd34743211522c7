/** A Sampler over a sampling session of a Tinker server. One request, one sample: the server joins those with the same prompt. */
import type { EngineExtension } from './capabilities.js';
import { EngineError } from './engineError.js';
import { field } from './futures.js';
import type { Sample, SamplePart, SampleRequest, Sampler } from './sampler.js';
import type { TinkerSession } from './tinkerSession.js';

/** Between two parts of a stream; where nobody reads them the stream serves to cancel alone. */
const PART_MS = 40;
const SILENT_MS = 5000;

export class TinkerSampler implements Sampler {
  declare readonly stream?: NonNullable<Sampler['stream']>;
  #requests = 0;

  constructor(
    readonly session: TinkerSession,
    readonly samplingSessionId: string,
    readonly policyVersion: number,
  ) {
    if (!session.capabilities.extensions.includes('stream')) return;
    this.stream = async (request, onPart, signal) => {
      const operation = { path: 'asample', body: this.#body(request, true), repeatable: false };
      const told = (part: unknown): void => {
        const read = onPart && readPart(part);
        if (read) onPart(read);
      };
      return decodeSample(await session.watch(operation, told, signal, onPart ? PART_MS : SILENT_MS), request);
    };
  }

  async sample(request: SampleRequest, signal?: AbortSignal): Promise<Sample> {
    const post = {
      acceptProto: this.session.encoding === 'proto',
      ...(request.conversation !== undefined && { conversation: request.conversation }),
    };
    return decodeSample(
      await this.session.run({ path: 'asample', body: this.#body(request, false), repeatable: false, post }, signal),
      request,
    );
  }

  #body(request: SampleRequest, stream: boolean): string {
    return JSON.stringify({
      sampling_session_id: this.samplingSessionId,
      seq_id: this.#requests++,
      num_samples: 1,
      prompt: { chunks: [{ type: 'encoded_text', tokens: request.prompt }] },
      sampling_params: {
        max_tokens: request.maxTokens,
        temperature: request.temperature,
        top_p: request.topP,
        top_k: request.topK ?? -1,
        seed: request.seed,
        ...this.#stops(request),
      },
      ...(request.promptLogProbs ? { prompt_logprobs: true } : {}),
      ...(request.entropy ? this.#extension('entropy', { entropy: true }) : {}),
      ...(request.lockstep ? this.#extension('lockstep', { lockstep: request.lockstep }) : {}),
      ...(stream ? { stream } : {}),
      type: 'sample',
    });
  }

  #extension(name: EngineExtension, fields: object): object {
    if (this.session.capabilities.extensions.includes(name)) return fields;
    throw new EngineError('user', `asample: ${this.session.capabilities.server} does not offer ${name}`);
  }

  /** The wire's `stop` takes strings or ids; both together need the extension. */
  #stops(request: SampleRequest): object {
    const strings = request.stopStrings ?? [];
    const ids = request.stopTokenIds;
    if (this.session.capabilities.extensions.includes('stop_token_ids')) {
      return { ...(ids.length > 0 ? { stop_token_ids: ids } : {}), ...(strings.length > 0 ? { stop: strings } : {}) };
    }
    if (ids.length > 0 && strings.length > 0) return this.#extension('stop_token_ids', {});
    return ids.length + strings.length > 0 ? { stop: ids.length > 0 ? ids : strings } : {};
  }
}

function readPart(part: unknown): SamplePart | undefined {
  const sequences = field(part, 'sequences');
  const sequence: unknown = Array.isArray(sequences) ? sequences[0] : undefined;
  const tokens = numbers(field(sequence, 'tokens'));
  const logProbs = numbers(field(sequence, 'logprobs'));
  return tokens === undefined || logProbs?.length !== tokens.length ? undefined : { tokens, logProbs };
}

function decodeSample(result: unknown, request: SampleRequest): Sample {
  const sequences = field(result, 'sequences');
  const sequence: unknown = Array.isArray(sequences) ? sequences[0] : undefined;
  const tokens = numbers(field(sequence, 'tokens'));
  const logProbs = numbers(field(sequence, 'logprobs'));
  const stop = field(sequence, 'stop_reason');
  if (tokens === undefined || logProbs === undefined || tokens.length !== logProbs.length || (stop !== 'stop' && stop !== 'length')) {
    throw new EngineError('server', 'asample: the answer has no sequence of tokens with a log-prob each and a stop reason');
  }
  const entropies = numbers(field(sequence, 'entropies'));
  const prompt = field(result, 'prompt_logprobs');
  return {
    tokens,
    logProbs,
    stop,
    ...(request.entropy && entropies?.length === tokens.length ? { entropies } : {}),
    ...(request.promptLogProbs && Array.isArray(prompt) ? { promptLogProbs: wholePrompt(prompt, request.prompt.length) } : {}),
  };
}

/** Some servers leave out the first token, which has none. */
const wholePrompt = (logProbs: (number | null)[], length: number): (number | null)[] =>
  logProbs.length === length - 1 ? [null, ...logProbs] : logProbs;

/** The log-prob of a token may be minus infinity, which JSON has no word for. */
const numbers = (value: unknown): number[] | undefined =>
  Array.isArray(value) ? value.map((item: unknown) => (typeof item === 'number' ? item : Number.NaN)) : undefined;
