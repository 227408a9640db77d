import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from 'pg';
import type { Bench } from './bench.ts';
import { Library, type Page, type Question } from './document-search-text.ts';
import { type Product, startProduct } from './product.ts';
import { Histogram } from './statistics.ts';

const pagesEach = 20;
const questions = 200;
const perTurn = 10;
const among = 5;
const batch = 1_000;

/**
 * A model's search in the documents of a project: from the call's frame to its result's frame, and whether the page
 * with the answer is among the first. The rows are inserted in the product's form; reading that many files would take
 * hours.
 */
export async function measureDocumentSearch(bench: Bench): Promise<void> {
  const library = new Library(bench.quick ? 500 : 10_000, pagesEach, questions);
  const provider = createServer((request, response) => void answer(request, response, library.questions));
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const { port } = provider.address() as AddressInfo;
  const product = await startProduct({ dist: bench.dist, providerPort: port });
  try {
    const made = (await product.call('POST', '/api/projects', { name: 'Library' })) as { project: { id: string } };
    const projectId = made.project.id;
    await fill(product, projectId, library);
    const times = new Histogram();
    let found = 0;
    // The first turn warms the caches and is asked again.
    await takeTurn(product, projectId, library.questions, 0, new Histogram());
    for (let first = 0; first < questions; first += perTurn) {
      found += await takeTurn(product, projectId, library.questions, first, times);
    }
    const what = `${library.documents} documents of ${pagesEach} pages`;
    const share = { part: 'document-search', what: `right page among the first ${among}, ${what}`, unit: '%' };
    bench.report.add({
      ...share,
      measured: (found / questions) * 100,
      judge: 'value',
      limit: { at: 'least', value: 95 },
    });
    for (const [name, rank] of [
      ['p50', 0.5],
      ['p95', 0.95],
    ] as const) {
      bench.report.add({
        part: 'document-search',
        what: `a search of a model, ${name}`,
        measured: times.percentile(rank),
        unit: 'ms',
        judge: 'value',
        ...(rank === 0.95 ? { limit: { at: 'most', value: 150 } } : {}),
        note: `(${times.count} questions)`,
      });
    }
  } finally {
    await product.stop();
    provider.closeAllConnections();
    provider.close();
  }
}

async function fill(product: Product, projectId: string, library: Library): Promise<void> {
  const client = await product.openDatabase();
  try {
    const version = await versionOf(product, client, projectId);
    const sha = (column: string) => `encode(sha256(convert_to('doc ' || ${column}, 'UTF8')), 'hex')`;
    const numbers = `generate_series(0, ${library.documents - 1}) as n`;
    await client.query(`insert into blobs (sha256, key, size) select ${sha('n')}, 'bench/' || n, 1 from ${numbers}`);
    await client.query(
      `insert into artifacts (id, project_id, path, search, media_type, size, sha256)
       select 'bench-' || n, $1, 'doc' || n || '.pdf', 'doc' || n || '.pdf', 'application/pdf', 1, ${sha('n')} from ${numbers}`,
      [projectId],
    );
    await client.query(
      `insert into documents (sha256, version, state, kind, pages, tokens)
       select ${sha('n')}, $1, 'ready', 'pdf', $2, 6000 from ${numbers}`,
      [version, pagesEach],
    );
    await client.query('drop index document_chunks_words');
    let pages: Page[] = [];
    const flush = async (): Promise<void> => {
      await client.query(
        `insert into document_chunks (sha256, version, page, piece, label, text, words)
         select ${sha('n')}, $1, page, 0, 'page ' || page, text, to_tsvector('simple', translate(lower(text), '.?', '  '))
         from unnest($2::int[], $3::int[], $4::text[]) as page (n, page, text)`,
        [version, pages.map(({ document }) => document), pages.map(({ page }) => page), pages.map(({ text }) => text)],
      );
      pages = [];
    };
    for (const page of library.pages()) {
      pages.push(page);
      if (pages.length === batch) await flush();
    }
    await flush();
    await client.query('create index document_chunks_words on document_chunks using gin (words)');
    // As autovacuum does after as many new rows.
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

/** Of the readers: from a file that the product reads itself. */
async function versionOf(product: Product, client: Client, projectId: string): Promise<number> {
  const form = new FormData();
  form.set('projectId', projectId);
  form.set('file', new File(['Nothing to be found here.'], 'first.txt', { type: 'text/plain' }));
  const url = `http://127.0.0.1:${product.port}/api/artifacts`;
  const stored = await fetch(url, { method: 'POST', headers: { cookie: product.cookie }, body: form });
  if (!stored.ok) throw new Error(`The upload answered ${stored.status}: ${await stored.text()}`);
  const { artifact } = (await stored.json()) as { artifact: { id: string } };
  for (let tries = 0; tries < 60; tries += 1) {
    await product.call('GET', `/api/artifacts/text?${new URLSearchParams({ projectId, id: artifact.id })}`);
    const { rows } = await client.query("select version from documents where state = 'ready'");
    if (rows[0] !== undefined) return rows[0].version;
  }
  throw new Error('The first file was not read');
}

type Message = { role: string; content: unknown };

/** Asks the questions from the number in the last message of the person on, one after the other. */
async function answer(request: IncomingMessage, response: ServerResponse, list: readonly Question[]): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { messages = [] } = JSON.parse(body || '{}') as { messages?: Message[] };
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const [, first = '0'] = /from (\d+)/.exec(JSON.stringify(messages[asked]?.content)) ?? [];
  const results = messages.slice(asked + 1).filter(({ role }) => role === 'tool').length;
  const input = JSON.stringify({ query: list[Number(first) + results]?.text ?? '' });
  const call = {
    index: 0,
    id: `call-${first}-${results}`,
    type: 'function',
    function: { name: 'search_documents', arguments: input },
  };
  const isCall = results < perTurn;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const choice of [
    { index: 0, delta: isCall ? { tool_calls: [call] } : { content: 'done' } },
    { index: 0, delta: {}, finish_reason: isCall ? 'tool_calls' : 'stop' },
  ]) {
    response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [choice] })}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

type Found = { results: { file: string; page: number }[] };

/** How many of the questions from `first` on had the right page among the first results. */
async function takeTurn(
  product: Product,
  projectId: string,
  list: readonly Question[],
  first: number,
  times: Histogram,
): Promise<number> {
  const made = (await product.call('POST', '/api/chats', { projectId, title: 'Bench' })) as { chat: { id: string } };
  const chatId = made.chat.id;
  const message = { id: `m-${chatId}`, parts: [{ type: 'text', text: `from ${first}` }] };
  await product.call('POST', '/api/chat/start', { chatId, message });
  const response = await fetch(`http://127.0.0.1:${product.port}/api/chat`, {
    method: 'POST',
    headers: { cookie: product.cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ chatId, messageId: message.id }),
  });
  if (!response.ok || response.body === null) throw new Error(`POST /api/chat answered ${response.status}`);
  const decoder = new TextDecoder();
  let [buffer, calledAt, calls, found] = ['', 0, 0, 0];
  for await (const piece of response.body) {
    const events = (buffer + decoder.decode(piece, { stream: true })).split('\n\n');
    buffer = events.pop() ?? '';
    for (const event of events) {
      if (event.includes('"tool-output-error"')) throw new Error(`A search failed: ${event}`);
      if (event.includes('"tool-input-available"')) calledAt = performance.now();
      if (!event.includes('"tool-output-available"') || event.includes('"preliminary"')) continue;
      times.add(performance.now() - calledAt);
      const right = list[first + calls];
      calls += 1;
      const { output } = JSON.parse(event.replace(/^(?:id: .*\n)?data: /, '')) as { output: Found };
      const isRight = ({ file, page }: Found['results'][number]) =>
        file === `doc${right?.document}.pdf` && page === right?.page;
      if (output.results.slice(0, among).some(isRight)) found += 1;
      else if (process.env.BENCH_MISSES !== undefined)
        console.log(`missed: ${right?.text} ${right?.document}/${right?.page}`);
    }
  }
  if (calls !== perTurn) throw new Error(`${calls} searches came to a result, not ${perTurn}`);
  return found;
}
