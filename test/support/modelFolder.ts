/** A model folder without weights for tests: a byte-level tokenizer and a chat template, written to a temporary folder. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SPECIAL = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
const TAGS = ['<tool_call>', '</tool_call>'];

/** ChatML without tools and without a tool role: any role is printed in the same way. */
export const CHATML = `{% for message in messages %}{% if loop.first and message['role'] != 'system' %}{{ '<|im_start|>system\nBe helpful<|im_end|>\n' }}{% endif %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`;

const withTools = (assistantContent: string): string => `{%- if messages[0].role == 'system' or tools %}
{{- '<|im_start|>system\n' }}{%- if messages[0].role == 'system' %}{{- messages[0].content }}{%- endif %}
{%- if tools %}{{- '\n# Tools' }}{%- for tool in tools %}{{- '\n' + (tool | tojson) }}{%- endfor %}{%- endif %}{{- '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}{{- '<|im_start|>user\n' + message.content + '<|im_end|>\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant\n' + ${assistantContent} }}
{%- for call in message.tool_calls or [] %}{{- '\n<tool_call>\n' + ({'name': call.function.name, 'arguments': call.function.arguments} | tojson) + '\n</tool_call>' }}{%- endfor %}
{{- '<|im_end|>\n' }}
{%- elif message.role == 'tool' %}
{%- if loop.index0 == 0 or messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{%- endif %}
{{- '\n<tool_response>\n' + message.content + '\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\n' }}{%- endif %}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}`;

/** Prints tools, groups tool results into one message, keeps all content. */
export const TOOL_CHATML = withTools('message.content');

/** As TOOL_CHATML, but only the last message keeps its thinking. */
export const DROPS_THINKING = withTools(
  "(message.content if loop.last or '</think>' not in message.content else message.content.split('</think>')[-1].lstrip('\\n'))",
);

/** As TOOL_CHATML, but the header of a turn opens the thinking. */
export const OPENS_THINKING = TOOL_CHATML.replace(
  "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}",
  "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n<think>\n' }}",
);

export interface ModelFolder {
  readonly path: string;
  remove(): Promise<void>;
}

export async function modelFolder(template: string | undefined, files: Readonly<Record<string, unknown>> = {}): Promise<ModelFolder> {
  const path = await mkdtemp(join(tmpdir(), 'toolwise-model-'));
  const contents: Record<string, unknown> = {
    'tokenizer.json': tokenizerJson(),
    'tokenizer_config.json': { eos_token: '<|im_end|>', ...(template === undefined ? {} : { chat_template: template }) },
    ...files,
  };
  for (const [name, content] of Object.entries(contents)) {
    await writeFile(join(path, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** One token a byte, then the special tokens, then tags that are one token but not special. */
export function tokenizerJson(): object {
  const bytes = byteCharacters();
  const added = [...SPECIAL, ...TAGS].map((content, i) => ({
    id: bytes.length + i,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: i < SPECIAL.length,
  }));
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { type: 'BPE', unk_token: null, vocab: Object.fromEntries(bytes.map((char, id) => [char, id])), merges: [] },
  };
}

/** The printable character that stands for each byte in byte-level vocabularies. */
function byteCharacters(): string[] {
  const printable = (byte: number): boolean => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++));
}
