import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../app.ts';

/** A server that makes embeddings in OpenAI's and Gemini's protocols: the length of each text, and 0.5. */
export async function startEmbedder(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const body: Json = JSON.parse(text);
    const answer = request.url?.includes(':batchEmbedContents')
      ? { embeddings: body.requests.map((each: Json) => ({ values: [each.content.parts[0].text.length, 0.5] })) }
      : {
          data: body.input.map((each: string, index: number) => ({ index, embedding: [each.length, 0.5] })),
          usage: { prompt_tokens: body.input.length },
        };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
