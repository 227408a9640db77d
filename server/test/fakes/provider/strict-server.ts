import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { Json, Refusal, Rule, StrictBody } from './strict-rules.ts';

/**
 * A provider of chat completions that refuses every request against its rules, as real servers do. Otherwise it calls
 * the tool `look` when the person asks for it, thinks when asked to, and says how many results it has seen.
 */

export type StrictServer = {
  /** Base URL, ending in /v1. */
  url: string;
  /** The requests for answers, without those for titles. */
  requests: { body: StrictBody; refusal: Refusal | undefined }[];
  /** Requests since the last call of this function: how many, and how many of them were refused. */
  count(): { asked: number; refused: number };
  close(): Promise<void>;
};

/** The members in which a server sends its reasoning, and its calls. */
export type StrictStyle = {
  callId: (turn: number) => string;
  /** Deltas of the reasoning before a call. */
  reasoning: Json[];
  /** Members of a call beside the usual ones. */
  call?: Json;
  /** Deltas after the call. */
  after?: (callId: string) => Json[];
};

export async function startStrictServer(rules: readonly Rule[], style: StrictStyle): Promise<StrictServer> {
  const requests: StrictServer['requests'] = [];
  let counted = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body: StrictBody = JSON.parse(Buffer.concat(chunks).toString());
    if (JSON.stringify(body.messages).includes('Name this conversation')) {
      stream(response, [{ content: 'A title' }], 'stop');
      return;
    }
    const refusal = rules.map((rule) => rule(body)).find((found) => found !== undefined);
    requests.push({ body, refusal });
    if (refusal !== undefined) refuse(response, refusal);
    else reply(response, body, style);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/v1`,
    requests,
    count() {
      const news = requests.slice(counted);
      counted = requests.length;
      return { asked: news.length, refused: news.filter(({ refusal }) => refusal !== undefined).length };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function refuse(response: ServerResponse, { status, body, inStream }: Refusal): void {
  if (inStream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`event: error\ndata: ${JSON.stringify(body)}\n\n`);
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function reply(response: ServerResponse, body: StrictBody, style: StrictStyle): void {
  const { messages, tools = [] } = body;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const wish = wishOf(messages[asked]?.content);
  const results = messages.slice(asked).filter(({ role }) => role === 'tool').length;
  if (/fail/.test(wish) && (results > 0 || tools.length === 0 || !/look/.test(wish))) {
    refuse(response, { status: 401, body: { error: { message: 'temporarily unauthorized' } } });
    return;
  }
  const thoughts = /think/.test(wish) ? style.reasoning : [];
  if (/look/.test(wish) && results === 0 && tools.some((tool) => tool.function.name === 'look')) {
    const id = style.callId(messages.filter(({ role }) => role === 'user').length);
    const call = {
      index: 0,
      id,
      type: 'function',
      function: { name: 'look', arguments: '{"number":1}' },
      ...style.call,
    };
    stream(response, [...thoughts, { tool_calls: [call] }, ...(style.after?.(id) ?? [])], 'tool_calls');
    return;
  }
  stream(response, [...thoughts, { content: `Seen ${results}.` }], 'stop');
}

/** The newest words of the person: earlier ones can stand before them in the same message. */
function wishOf(content: unknown): string {
  const texts = typeof content === 'string' ? [content] : Array.isArray(content) ? content.map(({ text }) => text) : [];
  const last = texts.findLast((text) => typeof text === 'string');
  return (
    String(last ?? '')
      .split('\n\n')
      .at(-1) ?? ''
  );
}

function stream(response: ServerResponse, deltas: readonly Json[], reason: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const write = (delta: Json, finish: string | null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`,
    );
  };
  write({ role: 'assistant', content: '' }, null);
  for (const delta of deltas) write(delta, null);
  write({}, reason);
  response.end('data: [DONE]\n\n');
}
