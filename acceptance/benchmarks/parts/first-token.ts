import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, interleave } from '../bench.ts';
import { Streams } from '../load/streams.ts';
import type { OpenStream, Subject } from '../load/subjects.ts';
import { Histogram } from '../statistics.ts';

const background = 100;
const probesPerSecond = 20;

/** Time to first token over the provider's own, while 100 other streams run and 20 new ones begin a second. */
export async function measureFirstToken(bench: Bench): Promise<void> {
  const seconds = bench.quick ? 3 : 6;
  const product = await bench.product();
  const subjects = [await bench.productSubject(), await bench.passThrough()];
  const asked = new Map(subjects.map((subject) => [subject, new Histogram()]));
  const admitted = new Histogram();
  await bench.prepareChats(product, bench.rounds * (background + (seconds + 1) * probesPerSecond));
  await interleave(bench.rounds, subjects, async (subject) => {
    const probes = await oneRound(subject, seconds);
    for (const probe of probes) {
      // The provider answers at once, so all of the time is the subject's and the machine's.
      const firstAt = await probe.first;
      asked.get(subject)?.add(firstAt - probe.askedAt);
      if (subject.name === 'product') admitted.add(firstAt - probe.admittedAt);
    }
  });
  addRows(bench, asked, admitted);
}

async function oneRound(subject: Subject, seconds: number): Promise<OpenStream[]> {
  const streams = new Streams(subject);
  await streams.add(background, { tokens: 50 * (seconds + 3), perSecond: 50 }, 2_000);
  await delay(200);
  const probing = new Streams(subject);
  const probes = await probing.add(seconds * probesPerSecond, { tokens: 25, perSecond: 50 }, seconds * 1000);
  await Promise.all([streams.finished(), probing.finished()]);
  return probes;
}

function addRows(bench: Bench, asked: Map<Subject, Histogram>, admitted: Histogram): void {
  const [product = new Histogram(), plain = new Histogram()] = [...asked.values()];
  const row = (what: string, histogram: Histogram, fraction: number, most: number, compared = true) =>
    bench.report.add({
      part: 'first-token',
      what,
      measured: histogram.percentile(fraction),
      unit: 'ms',
      ...(compared ? { compared: { name: 'P', value: plain.percentile(fraction) } } : {}),
      judge: 'value',
      limit: { at: 'most', value: most },
      note: `(${histogram.count} answers)`,
    });
  row('first token over the provider, p50', product, 0.5, 5);
  row('first token over the provider, p99', product, 0.99, 25);
  row('from POST /api/chat/start on, p50', admitted, 0.5, 5, false);
  row('from POST /api/chat/start on, p99', admitted, 0.99, 25, false);
}
