/** Samples from one frozen snapshot of a policy: token ids in, token ids and log-probs out. */
export interface Sampler {
  /** Version of the policy in this snapshot: the number of updates made before it. */
  readonly policyVersion: number;
  /**
   * @throws EngineError with category `server` when the engine failed (the caller may sample anew, under another seed), `user` when the
   * request is wrong.
   */
  sample(request: SampleRequest, signal?: AbortSignal): Promise<Sample>;
  /**
   * As `sample`, telling what is made as it is made; when the signal is aborted the engine stops. Absent where it has no extension `stream`.
   * The parts in a row are the beginning of the sample, not always all of it.
   */
  readonly stream?: (request: SampleRequest, onPart: ((part: SamplePart) => void) | undefined, signal?: AbortSignal) => Promise<Sample>;
}

/** Some more tokens of a sample that is being made, one log-prob a token. */
export interface SamplePart {
  readonly tokens: readonly number[];
  readonly logProbs: readonly number[];
}

export interface SampleRequest {
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  /** 0 is greedy. */
  readonly temperature: number;
  readonly topP: number;
  /** Of at most so many most likely tokens; absent: all. */
  readonly topK?: number;
  readonly seed: number;
  readonly stopTokenIds: readonly number[];
  readonly stopStrings?: readonly string[];
  /** Requests of one conversation carry one name: a server of many machines may keep them together. */
  readonly conversation?: string;
  /** Ask for the log-probs of the prompt's tokens. */
  readonly promptLogProbs?: boolean;
  /** Ask for the entropy of the distribution each token was drawn from, nats (extension `entropy`). */
  readonly entropy?: boolean;
  /** Run all `size` requests of this key as one batch in order of `index` (extension `lockstep`). */
  readonly lockstep?: { readonly key: string; readonly size: number; readonly index: number };
}

export interface Sample {
  /** Sampled ids, the stop token included. */
  readonly tokens: readonly number[];
  /** Raw distribution at temperature 1 before top-p, nats, one a token. */
  readonly logProbs: readonly number[];
  readonly stop: 'stop' | 'length';
  readonly entropies?: readonly number[];
  /** [prompt length]; null for the first token. */
  readonly promptLogProbs?: readonly (number | null)[];
}
