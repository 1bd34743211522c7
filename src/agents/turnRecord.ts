/** One answer of a rollout's model, and what the agent sent back for its calls. */
import type { Choice } from '../completions/complete.js';
import type { CallSegment, Segment } from '../domain/segment.js';
import type { Reply, Turn } from '../domain/turn.js';

interface Result {
  readonly text: string;
  readonly seconds: number;
}

export class TurnRecord {
  readonly #choice: Choice;
  readonly #policyVersion: number;
  readonly #made = performance.now();
  /** By the call's id. */
  readonly #results = new Map<string, Result>();

  constructor(choice: Choice, policyVersion: number) {
    this.#choice = choice;
    this.#policyVersion = policyVersion;
  }

  /** What stands in a later request for one of its calls; the first counts. Its time is all from the answer to that request. */
  takeResult(callId: string, text: string): void {
    const { calls } = this.#choice.answer;
    if (this.#results.has(callId) || !calls.some(({ id }) => id === callId)) return;
    this.#results.set(callId, { text, seconds: (performance.now() - this.#made) / 1000 / calls.length });
  }

  /** @param failed ids of calls whose execution failed; of others that is not known, and they count as done */
  turn(failed: ReadonlySet<string>): Turn {
    const { text, segments, sample } = this.#choice;
    return {
      ...{ text, segments, stop: sample.stop, tokens: sample.tokens.length, policyVersion: this.#policyVersion },
      replies: this.#replies(failed),
    };
  }

  /** In the order of the calls, up to the last that came back. A call that could not be read reached the agent as text. */
  #replies(failed: ReadonlySet<string>): Reply[] {
    const { segments, answer } = this.#choice;
    const replies: Reply[] = [];
    let told = 0;
    let next = 0;
    for (const segment of segments) {
      if (!isCall(segment)) continue;
      const call = segment.kind === 'call' ? answer.calls[next++] : undefined;
      const result = call && this.#results.get(call.id);
      if (segment.kind === 'call' && call && result) {
        replies.push(executed(segment, result, !failed.has(call.id)));
        told = replies.length;
      } else {
        replies.push({ kind: 'refused', problem: segment.kind === 'call' ? 'tooManyCalls' : UNREAD[segment.kind], text: '' });
      }
    }
    return replies.slice(0, told);
  }
}

const UNREAD = { malformedCall: 'malformed', cutOffCall: 'cutOff' } as const;

const executed = (call: CallSegment, { text, seconds }: Result, success: boolean): Reply => ({
  ...{ kind: 'executed', call, success, text, seconds },
});

const isCall = (segment: Segment): segment is Extract<Segment, { kind: 'call' | 'malformedCall' | 'cutOffCall' }> =>
  segment.kind === 'call' || segment.kind === 'malformedCall' || segment.kind === 'cutOffCall';
