/** A rollout as the messages of a conversation: what an SFT set holds. Does not write files. */
import type { Message, ToolCall } from '../../domain/message.js';
import type { Segment } from '../../domain/segment.js';
import type { Trajectory } from '../../domain/trajectory.js';

/** Why a rollout cannot be told in messages without changing what the model wrote. */
export type Untellable = 'a call that cannot be read' | 'text after a call' | 'no answer at its end';

export type Told = { readonly kind: 'messages'; readonly messages: Message[] } | { readonly kind: 'untellable'; readonly why: Untellable };

/**
 * System message (where there is one), question, and each turn with the results of its calls. Thinking becomes `reasoning`. Results carry
 * the id of their call, `call_1` and so on.
 */
export function trajectoryMessages(trajectory: Pick<Trajectory, 'problem' | 'turns' | 'stopReason'>, system: string): Told {
  const messages: Message[] = [];
  if (system !== '') messages.push({ role: 'system', content: system });
  messages.push({ role: 'user', content: trajectory.problem.question });
  const { kind } = trajectory.stopReason;
  if (kind !== 'answered' && kind !== 'stopTool') return untellable('no answer at its end');
  let calls = 0;
  for (const { text, segments, replies } of trajectory.turns) {
    const why = fault(segments);
    if (why !== undefined) return untellable(why);
    const toolCalls = segments.flatMap((segment): ToolCall[] => {
      return segment.kind === 'call' ? [{ id: `call_${++calls}`, name: segment.name, arguments: segment.arguments }] : [];
    });
    const reasoning = textOf(segments, 'thinking');
    messages.push({
      role: 'assistant',
      content: spoken(text, segments),
      ...(reasoning !== '' && { reasoning }),
      ...(toolCalls.length > 0 && { toolCalls }),
    });
    for (const [i, reply] of replies.entries()) {
      const { id, name } = toolCalls[i]!;
      messages.push({ role: 'tool', content: reply.text, name, callId: id! });
    }
  }
  return { kind: 'messages', messages };
}

/** Messages have the text before the calls, and no place for what could not be read. */
function fault(segments: readonly Segment[]): Untellable | undefined {
  if (segments.some(({ kind }) => kind === 'malformedCall' || kind === 'cutOffCall')) return 'a call that cannot be read';
  const first = segments.findIndex(({ kind }) => kind === 'call');
  const after = first === -1 ? [] : segments.slice(first).filter(({ kind }) => kind !== 'call');
  return after.some((segment) => 'text' in segment && segment.text.trim() !== '') ? 'text after a call' : undefined;
}

/** The text with the spaces that the model put before its call, so that a template lays the turn out token for token as it was sampled. */
function spoken(turn: string, segments: readonly Segment[]): string {
  const text = textOf(segments, 'text');
  const call = turn.indexOf('<tool_call>');
  const before = call === -1 ? '' : turn.slice(0, call).replace(/^\s+|\n+$/g, '');
  return before.trim() === text ? before : text;
}

const textOf = (segments: readonly Segment[], kind: 'text' | 'thinking'): string =>
  segments
    .flatMap((segment) => (segment.kind === kind ? [segment.text] : []))
    .join('\n')
    .trim();

const untellable = (why: Untellable): Told => ({ kind: 'untellable', why });
