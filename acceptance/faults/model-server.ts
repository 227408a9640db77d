import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Json } from '../product.ts';

/** A chat completions provider in this process, with answers set by the test. */

type Reply = { say: string } | { id: string; name: string; input: object };
export type ModelServer = { url: string; close(): void };

/**
 * `reply` receives the messages of each request and the names of the offered tools; an error it throws breaks the
 * connection.
 */
export async function startModelServer(
  reply: (messages: Json[], toolNames: string[]) => Reply | Promise<Reply>,
): Promise<ModelServer> {
  const server = createServer(async (request, response) => {
    try {
      const asked: { messages?: Json[]; tools?: Json[] } = JSON.parse((await text(request)) || '{}');
      const toolNames = (asked.tools ?? []).map((tool) => tool.function.name);
      send(response, await reply(asked.messages ?? [], toolNames));
    } catch {
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/v1`, close };
}

export function plainText(content: Json): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

function send(response: ServerResponse, reply: Reply): void {
  const isWord = 'say' in reply;
  const delta = isWord ? { content: reply.say } : { tool_calls: [{ index: 0, id: reply.id, function: callOf(reply) }] };
  const events = [
    { choices: [{ index: 0, delta }] },
    { choices: [{ index: 0, delta: {}, finish_reason: isWord ? 'stop' : 'tool_calls' }] },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`);
}

function callOf({ name, input }: { name: string; input: object }) {
  return { name, arguments: JSON.stringify(input) };
}
