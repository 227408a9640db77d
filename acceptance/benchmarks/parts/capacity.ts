import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, interleave } from '../bench.ts';
import { Streams } from '../load/streams.ts';
import type { Subject } from '../load/subjects.ts';
import { Histogram, median } from '../statistics.ts';

const levels = [100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 1_000, 1_200, 1_500];
/** Answers of 500 tokens at 50 a second: 400 of them at once means 40 that begin in a second. */
const startEveryMs = 25;
const firstTokenMs = 250;
const latencyMs = 100;
const windowMs = 1_500;

/** How many streams of 50 tokens a second one core can hold: more are added until a bound breaks. */
export async function measureCapacity(bench: Bench): Promise<void> {
  const product = await bench.product();
  const subjects = [await bench.productSubject(), await bench.passThrough()];
  const held = new Map<Subject, number[]>(subjects.map((subject) => [subject, []]));
  const rounds = bench.quick ? 1 : 2;
  await bench.prepareChats(product, rounds * 700);
  await interleave(rounds, subjects, async (subject) => {
    held.get(subject)?.push(await climb(bench, subject));
  });
  const [own = [], plain = []] = [...held.values()];
  bench.report.add({
    part: 'capacity',
    what: 'streams held by one core',
    measured: median(own),
    unit: 'streams',
    compared: { name: 'P', value: median(plain) },
    judge: 'ratio',
    limit: { at: 'least', value: 1 },
    note: `(rounds: ${own.join(', ')}; P ${plain.join(', ')})`,
  });
}

async function climb(bench: Bench, subject: Subject): Promise<number> {
  const provider = await bench.provider();
  const streams = new Streams(subject);
  let held = 0;
  for (const level of levels) {
    if (!(await holds(streams, level))) break;
    held = level;
  }
  provider.finishAll();
  await Promise.allSettled(streams.open.map((stream) => stream.done));
  await delay(1_000);
  return held;
}

/** Raises the number of streams to `level` and watches both bounds meanwhile and for a while after. */
async function holds(all: Streams, level: number): Promise<boolean> {
  const missing = level - all.open.length;
  const firsts = new Histogram();
  const latencies = all.latencies;
  latencies.reset();
  all.isMeasuring = true;
  const opening = all.add(missing, { tokens: 10_000, perSecond: 50 }, missing * startEveryMs);
  const opened = await Promise.race([opening, delay(missing * startEveryMs + 3_000).then(() => undefined)]);
  opening.catch(() => undefined);
  if (opened === undefined) return false;
  await delay(windowMs);
  all.isMeasuring = false;
  for (const stream of opened) firsts.add((await stream.first) - stream.askedAt);
  return firsts.percentile(0.99) <= firstTokenMs && latencies.percentile(0.99) <= latencyMs;
}
