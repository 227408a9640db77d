import { type Bench, interleave } from '../bench.ts';
import { plainSubject, type Subject } from '../load/subjects.ts';
import type { Product } from '../servers/product.ts';
import { median } from '../statistics.ts';
import { oneRound, type Round, streamCount, warmUp } from './tokens.ts';

/** A token has eight calls at once, and 600 a minute. */
const callsPerToken = 4;

/**
 * CPU per 1,000 streamed tokens of calls to `/v1/chat/completions`, at 100 streams of 50 tokens a second. P forwards the
 * same events; the product also checks the token, the budget and the request, reads each event, and counts the usage.
 */
export async function measureGateway(bench: Bench): Promise<void> {
  const windowMs = bench.quick ? 3_000 : 5_000;
  const product = await bench.freshProduct();
  const own = plainSubject('product', product.pid, product.port, await makeTokens(product));
  const plain = await bench.passThrough();
  const results = new Map<Subject, Round[]>([own, plain].map((subject) => [subject, []]));
  for (const subject of [own, plain]) await warmUp(subject);
  await interleave(bench.rounds, [own, plain], async (subject) => {
    const databasePid = subject === own ? product.databasePid : undefined;
    const run = () => oneRound(subject, { pid: subject.pid, databasePid }, windowMs);
    results.get(subject)?.push(subject === own ? await bench.profiled('gateway', product, run) : await run());
  });
  const of = (subject: Subject, pick: (round: Round) => number) => median((results.get(subject) ?? []).map(pick));
  const row = (what: string, pick: (round: Round) => number, most?: number, base = pick) =>
    bench.report.add({
      part: 'gateway',
      what: `per 1,000 tokens of /v1, ${what}`,
      unit: 'ms CPU',
      measured: of(own, pick),
      compared: { name: 'P', value: of(plain, base) },
      ...(most === undefined ? {} : { judge: 'ratio', limit: { at: 'most', value: most } }),
    });
  row('server', (round) => round.server, 1.5);
  row(
    'server and database',
    (round) => round.withDatabase,
    undefined,
    (round) => round.server,
  );
  row('with start and end of the calls, server', (round) => round.whole);
  await product.stop();
}

/** Returns the tokens in turn, so that no call meets the limits of one. */
async function makeTokens(product: Product): Promise<() => string> {
  const secrets: string[] = [];
  while (secrets.length < streamCount / callsPerToken) {
    const body = { name: `Bench ${secrets.length}`, scopes: ['models'], expiresAt: null };
    const made = (await product.call('POST', '/api/me/tokens', body)) as { secret: string };
    secrets.push(made.secret);
  }
  let next = 0;
  return () => secrets[next++ % secrets.length] ?? '';
}
