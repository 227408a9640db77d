import { createServer, type ServerResponse } from 'node:http';

/**
 * A provider whose answers are long Markdown: `markdown-<tokens>@<per second>` as model id, four characters a token. A
 * process of its own; prints `listening on <port>`.
 */

const section = (number: number): string => `## Part ${number}: how the tide is read

A harbour keeps a *tide table*, and a careful crew reads it **before** it casts off. The [almanac](https://example.org/tides) says when
the water turns; \`ebb\` and \`flood\` are its two words, and the third one is patience.

1. Look at the height of the last high water.
2. Take the draught of the boat and half a metre more.
   - In strong wind from the sea the water comes earlier.
   - After long rain the river brings more of it.
3. Write down what you found, with the time.

| Hour | Height | Current | Remark |
|---|---:|---|---|
| 06:00 | 1.2 m | 0.4 kn | slack water soon |
| 09:00 | 2.9 m | 1.8 kn | flood, strongest at the pier |
| 12:00 | 4.1 m | 0.2 kn | high water |

\`\`\`ts
export function heightAt(hours: number, low: number, high: number): number {
  const phase = (Math.PI * hours) / 6.2;
  return low + ((high - low) * (1 - Math.cos(phase))) / 2;
}
\`\`\`

> The table is made for calm air. What the wind does to it, the table does not know.

`;

const tokenLength = 4;
const tickMs = 4;

function textOf(tokens: number): string {
  let text = '';
  for (let number = 1; text.length < tokens * tokenLength; number++) text += section(number);
  return text.slice(0, tokens * tokenLength);
}

const event = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

function send(response: ServerResponse, tokens: number, perSecond: number): void {
  const text = textOf(tokens);
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(tokens, Math.floor(((performance.now() - startedAt) * perSecond) / 1000));
    let bytes = '';
    for (; sent < due; sent++) bytes += event({ content: text.slice(sent * tokenLength, (sent + 1) * tokenLength) });
    if (bytes !== '') response.write(bytes);
    if (sent < tokens) return;
    clearInterval(timer);
    response.end(`${event({}, 'stop')}data: [DONE]\n\n`);
  }, tickMs);
  response.on('close', () => clearInterval(timer));
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'list', data: [{ id: 'markdown-10000@500', object: 'model' }] }));
    return;
  }
  let body = '';
  request.on('data', (data: Buffer) => {
    body += data.toString();
  });
  request.on('end', () => {
    const [, tokens = '100', perSecond = '100'] = /"model":"markdown-(\d+)@(\d+)"/.exec(body) ?? [];
    response.setHeader('content-type', 'text/event-stream');
    send(response, Number(tokens), Number(perSecond));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening on ${typeof address === 'object' && address !== null ? address.port : 0}`);
});
process.on('SIGTERM', () => process.exit(0));
