/** `toolwise serve`: parses, serves, says how to ask, and waits to be stopped. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { UserError } from '../userError.js';
import { endInterrupted, interruptible } from './interrupt.js';

interface Options {
  readonly host: string;
  readonly port: string;
  readonly name?: string;
  readonly token?: string;
  readonly tools?: string;
  readonly system: boolean;
  readonly maxTokens?: string;
  readonly maxRequests?: string;
  readonly recipe?: string;
  readonly set: readonly string[];
  readonly json?: boolean;
}

const TOKEN = 'TOOLWISE_SERVE_TOKEN';

export function register(program: Command): void {
  program
    .command('serve')
    .description('serve a trained model to OpenAI clients')
    .argument('<run|model>', "a run's folder (its last checkpoint), RUN@sft, RUN@rl, RUN@CHECKPOINT, RUN@base, or a model's name or folder")
    .option('--port <number>', '0: any free one', '8000')
    .option('--host <address>', 'another than this machine needs a token', '127.0.0.1')
    .option('--name <text>', "the model's name for clients (default: its own; of a run with its stage)")
    .option('--token <text>', `asked for as "Authorization: Bearer"; or the variable ${TOKEN}`)
    .option('--tools <names>', 'tools that the server runs itself, for example code_interpreter; with a token')
    .option('--no-system', 'do not give the system text of training to conversations without one')
    .option('--max-tokens <number>', "most tokens of an answer (default: what is left of the model's context)")
    .option('--max-requests <number>', 'completions at once (default: 256)')
    .option('--recipe <name|file>', 'prompt and limits, in place of the own')
    .option('--set <path=value>', 'change a value of the recipe (repeatable)', (value: string, all: string[]) => [...all, value], [])
    .option('--json', 'print one JSON line when it serves')
    .action(async (model: string, options: Options) => run(model, options));
}

async function run(model: string, options: Options): Promise<void> {
  const { serveModel } = await import('../serve/serve.js');
  const tools = (options.tools ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const given = options.token ?? process.env[TOKEN];
  const made = given === undefined && tools.length > 0 ? randomBytes(18).toString('base64url') : undefined;
  const token = given ?? made;
  try {
    await interruptible(async (signal) => {
      const served = await serveModel({
        model,
        host: options.host,
        port: whole('--port', options.port, 0, 65_535),
        tools,
        system: options.system,
        set: options.set,
        ...(token !== undefined && { token }),
        ...(options.name !== undefined && { name: options.name }),
        ...(options.recipe !== undefined && { recipe: options.recipe }),
        ...(options.maxTokens !== undefined && { maxTokens: whole('--max-tokens', options.maxTokens, 1) }),
        ...(options.maxRequests !== undefined && { maxRequests: whole('--max-requests', options.maxRequests, 1) }),
        log: (line) => console.error(line),
        signal,
      });
      try {
        if (options.json) {
          const { url, name, contextTokens, streams } = served;
          console.log(JSON.stringify({ url, model: name, contextTokens, streams, tools, ...(made !== undefined && { token: made }) }));
        } else console.log(welcome(served, token, made !== undefined));
        await Promise.race([served.failed, until(signal)]);
      } finally {
        await served.close();
      }
      signal.throwIfAborted();
    }, 'requests under way have three seconds');
  } catch (error) {
    endInterrupted(error);
  }
}

const until = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

type Facts = Pick<import('../serve/serve.js').Served, 'url' | 'name' | 'contextTokens' | 'streams' | 'system' | 'tools'>;

function welcome({ url, name, contextTokens, streams, system, tools }: Facts, token: string | undefined, made: boolean): string {
  const body = JSON.stringify({ model: name, messages: [{ role: 'user', content: 'What is 17 * 23?' }] });
  const key = token === undefined ? '' : ` -H 'authorization: Bearer ${made ? token : `'"$${TOKEN}"'`}'`;
  return [
    `${name} is served at ${url} (chat completions${contextTokens === undefined ? '' : `, context ${contextTokens} tokens`})`,
    streams
      ? 'streaming: token by token'
      : 'streaming: this engine does not tell tokens as it makes them; an answer comes as one final chunk',
    ...(system === '' ? [] : [`system text of conversations without one: ${JSON.stringify(system)} (--no-system leaves it out)`]),
    ...(tools.length === 0 ? [] : [`the server runs ${tools.join(', ')} for requests that bring no tools of their own`]),
    ...(made ? [`token: ${token}`] : []),
    `  curl ${url}/chat/completions -H 'content-type: application/json'${key} -d '${body.replaceAll("'", "'\\''")}'`,
    'Ctrl+C ends it.',
  ].join('\n');
}

/** @throws UserError naming the option */
function whole(option: string, text: string, low: number, high = Number.MAX_SAFE_INTEGER): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= low && value <= high) return value;
  throw new UserError(
    `${option} ${JSON.stringify(text)}: expected a whole number ${high === Number.MAX_SAFE_INTEGER ? `of at least ${low}` : `from ${low} to ${high}`}`,
  );
}
