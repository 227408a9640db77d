import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, interleave, readCpu, spentSince } from '../bench.ts';
import { Streams } from '../load/streams.ts';
import type { Subject } from '../load/subjects.ts';
import { median } from '../statistics.ts';

export const streamCount = 100;
const perSecond = 50;
const rampMs = 2_000;

export type Round = { server: number; withDatabase: number; whole: number; wholeWithDatabase: number; p99: number };

/** CPU per 1,000 streamed tokens and token latency, at 100 streams of 50 tokens a second. */
export async function measureTokens(bench: Bench): Promise<void> {
  const windowMs = bench.quick ? 3_000 : 5_000;
  const product = await bench.product();
  const subjects = [await bench.productSubject(), await bench.passThrough()];
  await bench.prepareChats(product, streamCount * (bench.rounds + 1));
  const results = new Map<Subject, Round[]>(subjects.map((subject) => [subject, []]));
  for (const subject of subjects) await warmUp(subject);
  await interleave(bench.rounds, subjects, async (subject) => {
    const databasePid = subject.name === 'product' ? product.databasePid : undefined;
    const watched = { pid: subject.pid, databasePid };
    const run = () => oneRound(subject, watched, windowMs);
    const round = subject.name === 'product' ? await bench.profiled('tokens', product, run) : await run();
    results.get(subject)?.push(round);
  });
  addRows(bench, subjects, results);
}

export async function warmUp(subject: Subject): Promise<void> {
  const streams = new Streams(subject);
  await streams.add(streamCount, { tokens: 100, perSecond: 100 }, 500);
  await streams.finished();
  await delay(300);
}

export async function oneRound(
  subject: Subject,
  watched: { pid: number; databasePid: number | undefined },
  windowMs: number,
): Promise<Round> {
  const streams = new Streams(subject);
  const atStart = readCpu(watched);
  const tokens = ((rampMs + windowMs + 1_000) * perSecond) / 1000;
  await streams.add(streamCount, { tokens, perSecond }, rampMs);
  await delay(200);
  const before = readCpu(watched);
  const tokensBefore = streams.tokens;
  streams.isMeasuring = true;
  await delay(windowMs);
  streams.isMeasuring = false;
  const spent = spentSince(watched, before);
  const counted = streams.tokens - tokensBefore;
  await streams.finished();
  await delay(300);
  const whole = spentSince(watched, atStart);
  const perThousand = (seconds: number, count: number) => (seconds * 1e6) / count;
  return {
    server: perThousand(spent.server, counted),
    withDatabase: perThousand(spent.server + spent.database, counted),
    whole: perThousand(whole.server, streams.tokens),
    wholeWithDatabase: perThousand(whole.server + whole.database, streams.tokens),
    p99: streams.latencies.percentile(0.99),
  };
}

function addRows(bench: Bench, [product, plain]: Subject[], results: Map<Subject, Round[]>): void {
  const of = (subject: Subject | undefined, pick: (round: Round) => number) =>
    median((subject === undefined ? [] : (results.get(subject) ?? [])).map(pick));
  const row = (what: string, pick: (round: Round) => number, most?: number, base: (round: Round) => number = pick) =>
    bench.report.add({
      part: 'tokens',
      what,
      unit: what.includes('latency') ? 'ms' : 'ms CPU',
      measured: of(product, pick),
      compared: { name: 'P', value: of(plain, base) },
      ...(most === undefined ? {} : { judge: 'ratio', limit: { at: 'most', value: most } }),
    });
  row('per 1,000 tokens, server', (round) => round.server, 1.7);
  row(
    'per 1,000 tokens, server and database',
    (round) => round.withDatabase,
    2.2,
    (round) => round.server,
  );
  row('per 1,000 tokens with start and end of the answers, server', (round) => round.whole);
  row(
    'per 1,000 tokens with start and end, server and database',
    (round) => round.wholeWithDatabase,
    undefined,
    (round) => round.whole,
  );
  row('token latency, p99', (round) => round.p99, 2);
}
