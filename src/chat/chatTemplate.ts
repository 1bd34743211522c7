/** A model's chat template: found in its folder, rendered by Jinja. Knows messages and text; no tokens, and not what the text means. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import type { ToolCall } from '../domain/message.js';
import type { ToolDescription } from '../tools/jsonSchema.js';
import { UserError } from '../userError.js';
import { readJson, type Tokenizer } from './tokenizer.js';

export class ChatTemplate {
  readonly #template: Template;
  readonly #variables: Readonly<Record<string, unknown>>;

  constructor(source: string, tokenizer: Tokenizer) {
    try {
      this.#template = new Template(source);
    } catch (error) {
      throw new UserError(`The model's chat template cannot be read: ${(error as Error).message}`);
    }
    const names = ['bos_token', 'eos_token', 'pad_token', 'unk_token'] as const;
    this.#variables = Object.fromEntries(names.flatMap((name) => [[name, tokenizer.namedToken(name) ?? '']]));
  }

  /** @throws UserError when the folder has no chat template. */
  static async load(modelFolder: string, tokenizer: Tokenizer): Promise<ChatTemplate> {
    const source =
      (await readText(join(modelFolder, 'chat_template.jinja'))) ??
      pick(tokenizer.config.chat_template) ??
      pick(((await readJson(join(modelFolder, 'chat_template.json'))) as { chat_template?: unknown } | undefined)?.chat_template);
    if (source === undefined) {
      throw new UserError(
        `The model folder ${modelFolder} has no chat template.`,
        'Put one into chat_template.jinja, or use an instruct model: Toolwise trains conversations.',
      );
    }
    return new ChatTemplate(source, tokenizer);
  }

  /**
   * @param openTurn whether the text ends with the header of the assistant's next turn
   * @throws whatever the template raises, for example for a role that it does not know
   */
  render(messages: readonly TemplateMessage[], openTurn: boolean, tools: readonly ToolDescription[] = []): string {
    return this.#template.render({
      ...this.#variables,
      messages,
      add_generation_prompt: openTurn,
      ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    });
  }

  /** As `render`, but undefined where the template raises an error. */
  tryRender(messages: readonly TemplateMessage[], openTurn: boolean, tools: readonly ToolDescription[] = []): string | undefined {
    try {
      return this.render(messages, openTurn, tools);
    } catch {
      return undefined;
    }
  }
}

/** A message as templates see it; any role, so that unknown ones can be tried. */
export interface TemplateMessage {
  readonly role: string;
  readonly content: string;
  readonly name?: string;
  /** As OpenAI's, but with arguments as an object. */
  readonly tool_calls?: readonly { readonly type: string; readonly function: ToolCall }[];
}

/** A template is a text, or a list by name. */
function pick(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  const named = value as readonly { name?: unknown; template?: unknown }[];
  const found = named.find((item) => item.name === 'tool_use') ?? named.find((item) => item.name === 'default') ?? named[0];
  return typeof found?.template === 'string' ? found.template : undefined;
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UserError(`${file} cannot be read: ${(error as Error).message}`);
  }
}
