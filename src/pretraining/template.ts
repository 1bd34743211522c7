/** `nano`'s chat format: its special tokens, its chat template, and traces written in it. */
import type { Trace } from './trace.js';

/** In order of their ids. Those that are not `special` stay in decoded text: the turn parser must see them. */
export const NANO_TOKENS = [
  { text: '<pad>', special: true },
  { text: '<|user|>', special: true },
  { text: '<|assistant|>', special: true },
  { text: '<|end|>', special: true },
  { text: '<tool_call>', special: false },
  { text: '</tool_call>', special: false },
  { text: '<tool_response>', special: false },
  { text: '</tool_response>', special: false },
] as const;

/** System messages and tool descriptions are left out: the model has been trained on one tool. */
export const NANO_CHAT_TEMPLATE = `{%- for message in messages -%}
{%- if message.role == 'user' -%}{{- '<|user|>' + message.content -}}
{%- elif message.role == 'tool' -%}{{- '<tool_response>' + message.content + '</tool_response>' -}}
{%- elif message.role == 'assistant' -%}
{{- '<|assistant|>' + (message.content or '') -}}
{%- for call in message.tool_calls or [] -%}
{%- set f = call.function or call -%}
{{- '<tool_call>\\n{"name": "' + f.name + '", "arguments": ' + (f.arguments if f.arguments is string else f.arguments | tojson) + '}\\n</tool_call>' -}}
{%- endfor -%}
{{- '<|end|>' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}`;

/** A piece of a conversation; trained (1): the policy's own tokens. */
export type TracePiece = readonly [text: string, trained: 0 | 1];

/** The trace as the chat template writes it, in pieces. */
export function writeTrace(trace: Trace): TracePiece[] {
  const pieces: TracePiece[] = [[`<|user|>${trace.problem.question}<|assistant|>`, 0]];
  for (const turn of trace.turns) {
    pieces.push([`${turn.text}<|end|>`, 1]);
    if (turn.reply !== undefined) pieces.push([`<tool_response>${turn.reply}</tool_response><|assistant|>`, 0]);
  }
  return pieces;
}
