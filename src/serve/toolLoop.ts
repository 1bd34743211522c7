/**
 * A chat call whose tools the server runs itself: a rollout as in training, from the call's messages to the answer. The client sees one
 * answer: what was said in all turns, and which calls were run. Does not grade and keeps no trajectory.
 */
import { randomInt } from 'node:crypto';
import { type Answer, type AnswerShape, answerOf, BETWEEN } from '../completions/answer.js';
import type { ChatCall } from '../completions/chatCall.js';
import {
  type Choice,
  type CompleteOptions,
  type CompletionOutcome,
  type CompletionSettings,
  newCompletionId,
  placeOf,
  tooLong,
} from '../completions/complete.js';
import type { Place } from '../completions/history.js';
import { invalid, type Refusal } from '../completions/refusal.js';
import { type AnswerDelta, TurnStream } from '../completions/turnStream.js';
import { TurnText, turnTextOf } from '../completions/turnText.js';
import type { StopReason } from '../domain/stopReason.js';
import type { Trajectory } from '../domain/trajectory.js';
import { EngineError } from '../engine/engineError.js';
import type { Sample, SamplePart, Sampler } from '../engine/sampler.js';
import { deriveSeed } from '../random.js';
import type { RolloutSettings } from '../rollout/episode.js';
import { runRollout } from '../rollout/runRollout.js';

export interface ToolLoopSettings {
  readonly completion: CompletionSettings;
  /** The recipe's; tools and limits are used as they are. */
  readonly rollout: Omit<RolloutSettings, 'sampler' | 'sampling'>;
}

/** @throws EngineError where the engine or a tool's machinery failed; the signal's reason */
export async function completeWithTools(
  asked: ChatCall,
  { completion: settings, rollout }: ToolLoopSettings,
  options: CompleteOptions = {},
): Promise<CompletionOutcome> {
  const refusal = refuseOf(asked);
  if (refusal) return { kind: 'refused', refusal };
  const call: ChatCall = { ...asked, tools: rollout.tools.descriptions };
  const { history, sampler } = settings;
  const placed = placeOf(call, settings);
  if (placed.kind === 'refused') return placed;
  const { place } = placed;
  const room = (settings.contextTokens ?? Number.POSITIVE_INFINITY) - place.tokens.length;
  if (room < 1) return { kind: 'refused', refusal: tooLong(settings.contextTokens!, place.tokens.length) };
  const { id = newCompletionId() } = options;
  const seed = call.seed ?? randomInt(2 ** 47);
  options.onStart?.();
  const choices = await Promise.all(
    Array.from({ length: call.n }, (_, index) => choose({ call, settings, rollout, options, place, id, index, seed })),
  );
  for (const { choice, tokens } of choices) history.remember(place, { id: choice.id, answer: choice.answer, tokens });
  return {
    kind: 'completed',
    completion: {
      id,
      created: Math.floor(Date.now() / 1000),
      call,
      promptTokens: place.tokens,
      ...(place.continues && { continues: place.continues }),
      policyVersion: sampler.policyVersion,
      choices: choices.map(({ choice }) => choice),
    },
  };
}

/** What goes with one turn does not go with several. */
function refuseOf({ stop, tokenIds }: ChatCall): Refusal | undefined {
  const not = (field: string): Refusal => invalid(`${field} is not offered where the server runs its own tools`, field);
  if (stop.length > 0) return not('stop');
  return tokenIds ? not('return_token_ids') : undefined;
}

interface Input {
  readonly call: ChatCall;
  readonly settings: CompletionSettings;
  readonly rollout: Omit<RolloutSettings, 'sampler' | 'sampling'>;
  readonly options: CompleteOptions;
  readonly place: Place;
  readonly id: string;
  readonly index: number;
  readonly seed: number;
}

async function choose({ call, settings, rollout, options, place, id, index, seed }: Input): Promise<{ choice: Choice; tokens: number[] }> {
  const { signal, onDelta, onTokens } = options;
  const { sampling = { temperature: 1, topP: 1 }, format } = settings;
  const shape: AnswerShape = { takesCalls: true, callsPerTurn: Number.POSITIVE_INFINITY, callId: (k) => `call_${k}` };
  const topK = call.topK ?? sampling.topK;
  const responseTokens = Math.min(rollout.limits.responseTokens, call.maxTokens ?? settings.maxTokens ?? Number.POSITIVE_INFINITY);
  const told =
    onDelta || onTokens
      ? new ToldTurns(
          settings,
          shape,
          (delta) => onDelta?.(index, delta),
          (part) => onTokens?.(index, part),
        )
      : undefined;
  const finished = await runRollout(
    {
      ...rollout,
      sampler: told ? told.watch(settings.sampler) : settings.sampler,
      limits: { ...rollout.limits, responseTokens, callsPerTurn: Math.min(rollout.limits.callsPerTurn, call.callsPerTurn) },
      sampling: {
        temperature: call.temperature ?? sampling.temperature,
        topP: call.topP ?? sampling.topP,
        ...(topK !== undefined && { topK }),
      },
    },
    {
      problem: { id, question: '' },
      groupId: id,
      trajectoryId: `${id}/${index}`,
      promptTokens: place.tokens,
      seed: (turn, attempt) => deriveSeed(seed, index, turn, attempt),
      ...(signal && { signal }),
    },
  );
  if (finished.kind === 'infra') throw new EngineError('server', finished.error);
  const { trajectory } = finished;
  const turns = trajectory.turns.map(({ text, segments }) => answerOf(format.opensThinking ? `<think>${text}` : text, segments, shape));
  const joined = (kind: 'content' | 'reasoning'): string =>
    turns
      .map((turn) => turn[kind])
      .filter((text) => text !== '')
      .join(BETWEEN);
  const answer: Answer = { content: joined('content'), reasoning: joined('reasoning'), calls: [] };
  const last = trajectory.turns.at(-1);
  const choice: Choice = {
    id: `${id}/${index}`,
    index,
    sample: sampledIn(trajectory),
    text: last?.text ?? '',
    segments: last?.segments ?? [],
    answer,
    finishReason: isAnswer(trajectory.stopReason) ? 'stop' : 'length',
    executed: trajectory.turns.flatMap(({ replies }) =>
      replies.flatMap((reply) =>
        reply.kind === 'executed'
          ? [{ name: reply.call.name, arguments: reply.call.arguments, result: reply.text, success: reply.success }]
          : [],
      ),
    ),
  };
  return { choice, tokens: [...trajectory.tokens] };
}

const isAnswer = ({ kind }: StopReason): boolean => kind === 'answered' || kind === 'stopTool';

/** The model's tokens alone. */
function sampledIn({ tokens, mask, samplerLogProbs, stopReason }: Trajectory): Sample {
  const own = <T>(values: readonly T[]): T[] => values.filter((_, i) => mask[i] === 1);
  return { tokens: own(tokens), logProbs: own(samplerLogProbs), stop: isAnswer(stopReason) ? 'stop' : 'length' };
}

/** Tells what is said in each turn as it is made; calls are not told, since they are run here. */
class ToldTurns {
  #any = { content: false, reasoning: false };

  constructor(
    private readonly settings: Pick<CompletionSettings, 'format'>,
    private readonly shape: AnswerShape,
    private readonly onDelta: (delta: AnswerDelta) => void,
    private readonly onTokens: (part: SamplePart) => void,
  ) {}

  watch(sampler: Sampler): Sampler {
    return { policyVersion: sampler.policyVersion, sample: (request, signal) => this.#turn(sampler, request, signal) };
  }

  async #turn(sampler: Sampler, ...[request, signal]: Parameters<Sampler['sample']>): Promise<Sample> {
    const { format } = this.settings;
    const text = new TurnText(format);
    const turn = new TurnStream(this.shape, format.opensThinking);
    const begun = { content: false, reasoning: false };
    const tell = (deltas: readonly AnswerDelta[]): void => {
      for (const delta of deltas) {
        if (delta.kind === 'call') continue;
        const apart = !begun[delta.kind] && this.#any[delta.kind] ? BETWEEN : '';
        begun[delta.kind] = true;
        this.#any[delta.kind] = true;
        this.onDelta({ ...delta, text: apart + delta.text });
      }
    };
    let told = 0;
    const take = (part: SamplePart): void => {
      told += part.tokens.length;
      this.onTokens(part);
      tell(turn.push(text.push(part.tokens)));
    };
    let sample: Sample;
    try {
      sample = sampler.stream ? await sampler.stream(request, take, signal) : await sampler.sample(request, signal);
    } catch (error) {
      // What was told cannot be taken back: the turn is not sampled anew.
      if (told > 0 && error instanceof EngineError) throw new EngineError('user', error.message);
      throw error;
    }
    take({ tokens: sample.tokens.slice(told), logProbs: sample.logProbs.slice(told) });
    tell(turn.push(text.end(turnTextOf(format, sample.tokens))));
    tell(turn.end(sample.stop === 'length'));
    return sample;
  }
}
