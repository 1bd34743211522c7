/** A small server on this machine that speaks chat completions by a script, and remembers what it was asked. For tests. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a request's JSON, looked into by tests
  readonly body: any;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as it is; `break` ends the connection in the middle. */
  readonly body: unknown;
  readonly break?: boolean;
}

export interface TestServer {
  readonly url: string;
  readonly asked: Asked[];
  /** Requests of the moment, and the most there were. */
  readonly load: { now: number; most: number };
  close(): Promise<void>;
}

export async function openAiTestServer(
  answer: (asked: Asked, count: number) => ScriptedAnswer | Promise<ScriptedAnswer>,
): Promise<TestServer> {
  const asked: Asked[] = [];
  const load = { now: 0, most: 0 };
  const server = createServer(async (request, response) => {
    load.most = Math.max(load.most, ++load.now);
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const seen: Asked = { path: request.url!, headers: request.headers, body: text === '' ? undefined : JSON.parse(text) };
    asked.push(seen);
    const { status = 200, headers = {}, body, ...rest } = await answer(seen, asked.length);
    load.now--;
    const content = typeof body === 'string' ? body : JSON.stringify(body);
    if (rest.break === true) {
      response.writeHead(status, { ...headers, 'content-length': String(content.length + 100) });
      response.write(content);
      response.destroy();
      return;
    }
    response.writeHead(status, headers).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    load,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** An answer with one choice. */
export const completion = (
  message: object,
  more: { finish?: string; usage?: object; choice?: object; top?: object } = {},
): ScriptedAnswer => ({
  body: {
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: more.finish ?? 'stop', ...more.choice }],
    usage: more.usage ?? { prompt_tokens: 10, completion_tokens: 5 },
    ...more.top,
  },
});

export const models = (...ids: string[]): ScriptedAnswer => ({ body: { data: ids.map((id) => ({ id, max_model_len: 4096 })) } });
