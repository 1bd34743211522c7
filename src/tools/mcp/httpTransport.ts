/** Messages to and from an MCP server over HTTP: headers go to nobody else, a redirect leaves no origin, an answer has a bounded size. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { UserError } from '../../userError.js';
import type { McpAddress } from './mcpServer.js';
import { MessageTooLong } from './programTransport.js';

/** Bytes of one answer. */
const LONGEST_ANSWER = 64 * 2 ** 20;

/** @throws UserError for an address that is none, or headers that would be sent in the clear */
export function httpTransport({ url, headers = {} }: McpAddress): StreamableHTTPClientTransport {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || (address.protocol !== 'http:' && address.protocol !== 'https:')) {
    throw new UserError(`${JSON.stringify(url)} is no address of an MCP server`, 'For example http://127.0.0.1:3001/mcp');
  }
  if (Object.keys(headers).length > 0 && address.protocol === 'http:' && !isThisMachine(address.hostname)) {
    throw new UserError(`headers are not sent over plain http to ${address.hostname}`, 'Use https, or a tunnel to this machine.');
  }
  return new StreamableHTTPClientTransport(address, {
    requestInit: { headers: { ...headers } },
    fetch: boundedFetch,
    redirectPolicy: 'same-origin',
  });
}

const isThisMachine = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i.test(host);

/** The standing stream of notifications (GET) has no end. */
async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null || (init?.method ?? 'GET') === 'GET') return response;
  let size = 0;
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      size += chunk.length;
      if (size > LONGEST_ANSWER)
        controller.error(new MessageTooLong(`the server sent an answer of more than ${LONGEST_ANSWER / 2 ** 20} MB`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounded), { status, statusText, headers });
}
