/** The routes of a served model. What a chat completion is stands in `completions/`; who may ask in `guard.ts`. */
import { Hono } from 'hono';
import type { ChatCall } from '../completions/chatCall.js';
import { type CompletionSettings, complete } from '../completions/complete.js';
import { answerChat, jsonResponse, refusalResponse } from '../completions/http.js';
import { invalid, type Refusal } from '../completions/refusal.js';
import type { ReadCall } from '../completions/request.js';
import { type Access, refuseEntry } from './guard.js';
import { completeWithTools, type ToolLoopSettings } from './toolLoop.js';

export interface ServedModel {
  /** As clients name it. */
  readonly name: string;
  readonly created: number;
  readonly settings: CompletionSettings;
  /** System text of conversations that have none; empty: they have none. */
  readonly system: string;
  /** The tools that the server runs for calls that bring none of their own; absent: none. */
  readonly loop?: Pick<ToolLoopSettings, 'rollout'>;
}

export interface AppOptions extends Access {
  readonly model: ServedModel;
  /** Completions at once; further ones are told to come again. */
  readonly maxRequests: number;
  readonly maxBodyBytes?: number;
  /** Aborted when the server ends: what runs is given up. */
  readonly ending: AbortSignal;
  readonly onFailure: (error: unknown) => void;
}

const CHAT = '/v1/chat/completions';

export function serveApp(options: AppOptions): Hono {
  const { model, maxRequests, ending } = options;
  const { settings, loop, system } = model;
  let running = 0;
  const app = new Hono();
  app.get('/health', () => jsonResponse({ status: 'ok' }));
  app.use(async ({ req }, next) => {
    const refusal = refuseEntry(req.raw.headers, options);
    return refusal ? refusalResponse(refusal) : next();
  });
  app.get('/', () => jsonResponse({ served: model.name, chat: CHAT, models: '/v1/models' }));
  app.get('/v1/models', () => jsonResponse({ object: 'list', data: [wireModel(model)] }));
  app.get('/v1/models/:id{.+}', ({ req }) => {
    const id = req.param('id');
    return id === model.name ? jsonResponse(wireModel(model)) : refusalResponse(unknownModel(id, model));
  });
  app.post(CHAT, async ({ req }) => {
    if (running >= maxRequests) return comeAgain(maxRequests);
    running++;
    let left = false;
    const leave = (): void => {
      if (!left) running--;
      left = true;
    };
    const prepare = (call: ChatCall): ReadCall => {
      if (call.model !== model.name) return { kind: 'refused', refusal: unknownModel(call.model, model) };
      const own = system !== '' && call.messages[0]?.role !== 'system';
      return { kind: 'call', call: own ? { ...call, messages: [{ role: 'system', content: system }, ...call.messages] } : call };
    };
    try {
      const response = await answerChat(req.raw, {
        settings,
        prepare,
        complete: async (call, how) => {
          const signal = how.signal ? AbortSignal.any([how.signal, ending]) : ending;
          try {
            return loop && call.tools.length === 0 && call.toolChoice.kind === 'auto'
              ? await completeWithTools(call, { completion: settings, ...loop }, { ...how, signal })
              : await complete(call, settings, { ...how, signal });
          } finally {
            leave();
          }
        },
        ...(options.maxBodyBytes !== undefined && { maxBodyBytes: options.maxBodyBytes }),
        onFailure: options.onFailure,
      });
      // A stream goes on after its head.
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) leave();
      return response;
    } catch (error) {
      leave();
      throw error;
    }
  });
  app.notFound(({ req }) => refusalResponse(elsewhere(req.method, req.path)));
  app.onError((error) => {
    options.onFailure(error);
    return refusalResponse({ status: 500, type: 'server_error', message: 'the server failed; its log says how' });
  });
  return app;
}

const wireModel = ({ name, created, settings }: ServedModel): object => ({
  id: name,
  object: 'model',
  created,
  owned_by: 'toolwise',
  ...(settings.contextTokens !== undefined && { max_model_len: settings.contextTokens }),
});

const unknownModel = (asked: string, { name }: ServedModel): Refusal => ({
  ...invalid(`The model ${JSON.stringify(asked)} is not served here. This server has: ${name}`, 'model', 'model_not_found'),
  status: 404,
});

function comeAgain(most: number): Response {
  const response = refusalResponse({
    status: 429,
    type: 'rate_limit_error',
    message: `${most} completions are being made, which is the most at once; try again`,
    code: 'too_many_requests',
  });
  response.headers.set('retry-after', '1');
  return response;
}

/** What to use in place of what is not here. */
function elsewhere(method: string, path: string): Refusal {
  const not = (message: string): Refusal => ({ ...invalid(message, undefined, 'unknown_url'), status: 404 });
  const chat = `This server offers chat completions: POST ${CHAT}.`;
  if (/\/responses(\/|$)/.test(path)) {
    return not(
      `The Responses API is not offered. ${chat} With the openai client: client.chat.completions.create(...). With the AI SDK: createOpenAICompatible of @ai-sdk/openai-compatible, or openai.chat(MODEL).`,
    );
  }
  if (path.endsWith('/completions') && !path.endsWith('/chat/completions')) {
    return not(
      `Completions of a bare text are not offered: the model was trained on conversations. ${chat} Put the text into a user message.`,
    );
  }
  if (path === '/chat/completions' || path === '/models') return not(`There is nothing at ${path}: the base URL ends in /v1.`);
  if (path === CHAT) return { ...not(`${path} takes POST, not ${method}.`), status: 405 };
  return not(`There is nothing at ${method} ${path}. ${chat}`);
}
