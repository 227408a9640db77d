import { type Bench, interleave } from '../bench.ts';
import { Connection } from '../load/connection.ts';
import { type Product, signIn, tokenOf } from '../servers/product.ts';
import { median } from '../statistics.ts';

const connections = 16;
const fewChats = 200;
const manyChats = 100_000;

type Target = { name: string; port: number };
type Request = { name: string; method: string; path: string; body?: string; status: number };

const requests: Request[] = [
  { name: 'GET /api/me', method: 'GET', path: '/api/me', status: 200 },
  { name: 'GET /api/chats, page of 50', method: 'GET', path: '/api/chats?limit=50', status: 200 },
  { name: 'POST /api/chats', method: 'POST', path: '/api/chats', body: '{"title":"A bench title"}', status: 201 },
];

/** Requests per second of one core against M on the same rows, and of the list with many conversations against few. */
export async function measureReads(bench: Bench): Promise<void> {
  const seconds = bench.quick ? 1 : 2;
  bench.forgetChats();
  const product = await bench.freshProduct();
  await product.createChats(fewChats);
  const minimal = await bench.minimalApp(product);
  const targets: Target[] = [
    { name: 'product', port: product.port },
    { name: 'M', port: minimal.port },
  ];
  // The list before the inserts, which would lengthen it.
  for (const request of requests) {
    for (const target of targets) await requestsPerSecond(target.port, product.cookie, request, 0.7);
    const rates = new Map<Target, number[]>(targets.map((target) => [target, []]));
    await interleave(bench.rounds, targets, async (target) => {
      const run = () => requestsPerSecond(target.port, product.cookie, request, seconds);
      const isProduct = target.name === 'product';
      rates.get(target)?.push(isProduct ? await bench.profiled(request.name, product, run) : await run());
    });
    const [own = [], plain = []] = [...rates.values()];
    bench.report.add({
      part: 'reads',
      what: request.name,
      measured: median(own),
      unit: 'a second',
      compared: { name: 'M', value: median(plain) },
      judge: 'ratio',
      limit: { at: 'least', value: 0.8 },
    });
  }
  await compareLists(bench, product, seconds);
  await product.stop();
}

/** The same list for two people of one installation: one with 100,000 conversations, one with 200. */
async function compareLists(bench: Bench, product: Product, seconds: number): Promise<void> {
  const few = await personWith(product, 'few', fewChats);
  const many = await personWith(product, 'many', manyChats);
  const list = requests[1];
  if (list === undefined) return;
  const rates = new Map<string, number[]>([
    [few, []],
    [many, []],
  ]);
  for (const cookie of [few, many]) await requestsPerSecond(product.port, cookie, list, 0.5);
  await interleave(bench.rounds + 2, [few, many], async (cookie) => {
    rates.get(cookie)?.push(await requestsPerSecond(product.port, cookie, list, seconds));
  });
  bench.report.add({
    part: 'reads',
    what: `GET /api/chats with ${manyChats} conversations`,
    unit: 'a second',
    measured: median(rates.get(many) ?? []),
    compared: { name: `with ${fewChats}`, value: median(rates.get(few) ?? []) },
    judge: 'ratio',
    limit: { at: 'least', value: 0.95 },
  });
}

/**
 * Rows as the product writes them, and a session: the administrator signs in again and the session changes its owner.
 */
async function personWith(product: Product, name: string, chats: number): Promise<string> {
  const cookie = await signIn(product.port);
  const client = await product.openDatabase();
  await client.query(`insert into users (id, name, email) values ($1, $1, $1 || '@example.org')`, [name]);
  await client.query('update sessions set user_id = $1 where token = $2', [name, tokenOf(cookie)]);
  await client.query(
    `insert into chats (id, owner_id, title, title_source, title_search, created_at, updated_at)
     select $1 || '-' || n, $1, 'Conversation ' || n, 'person', to_tsvector('simple', 'conversation ' || n),
       now() - n * interval '1 minute', now() - n * interval '1 minute'
     from generate_series(1, $2::int) as n`,
    [name, chats],
  );
  await client.query('analyze chats');
  await client.end();
  return cookie;
}

/** Responses per second over kept-alive connections, each with one request in progress at any time. */
async function requestsPerSecond(port: number, cookie: string, request: Request, seconds: number): Promise<number> {
  const { method, path, body, status } = request;
  const until = performance.now() + seconds * 1000;
  let answered = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = await Connection.open(port);
      const text = connection.requestText(method, path, cookie, body);
      while (performance.now() < until) {
        const answer = await connection.exchange(text);
        if (answer.status !== status) throw new Error(`${request.name} answered ${answer.status}: ${answer.body}`);
        answered++;
      }
      connection.close();
    }),
  );
  return (answered * 1000) / (performance.now() - startedAt);
}
