import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, readCpu, spentSince } from '../bench.ts';
import { Streams } from '../load/streams.ts';
import type { Subject } from '../load/subjects.ts';
import { Inspector } from '../servers/inspector.ts';
import { type Pinned, residentBytes } from '../servers/processes.ts';
import { slope } from '../statistics.ts';

const inspected = { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' };
const idleScript = { tokens: 1, perSecond: 50, hold: true };
const streamCount = 1_000;

/** Memory per open stream that waits for its provider, and the CPU that 1,000 of them cost. */
export async function measureMemory(bench: Bench): Promise<void> {
  const provider = await bench.provider();
  const product = await bench.freshProduct(inspected);
  const plain = await bench.freshPassThrough(inspected);
  bench.forgetChats();
  await bench.prepareChats(product, streamCount);
  const subject = await bench.productSubject(product);
  const plainBytes = await bytesPerStream(plain.subject, plain.process);
  const ownBytes = await bytesPerStream(subject, product.process);
  bench.report.add({
    part: 'memory',
    what: 'per open idle stream',
    measured: ownBytes / 1000,
    unit: 'kB',
    compared: { name: 'P', value: plainBytes / 1000 },
    judge: 'ratio',
    limit: { at: 'most', value: 1.5 },
  });
  await addIdleCpu(bench, product);
  provider.finishAll();
  bench.forgetChats();
  await Promise.all([product.stop(), plain.process.stop()]);
}

/**
 * Slope of the resident size after a garbage collection, over the number of streams. The first streams are only a
 * warm-up.
 */
async function bytesPerStream(subject: Subject, target: Pinned): Promise<number> {
  const inspector = await Inspector.attach(target);
  const streams = new Streams(subject);
  const points: [number, number][] = [];
  const step = streamCount / 4;
  while (streams.open.length < streamCount) {
    await streams.add(step, idleScript, step * 8);
    await delay(1_000);
    await inspector.collectGarbage();
    await inspector.collectGarbage();
    await delay(1_000);
    points.push([streams.open.length, residentBytes(target.pid)]);
  }
  inspector.close();
  return slope(points);
}

async function addIdleCpu(bench: Bench, product: { pid: number; databasePid: number }): Promise<void> {
  // Two rounds of keep-alive comments, six of heartbeats.
  const windowMs = bench.quick ? 15_000 : 30_000;
  const before = readCpu(product);
  await delay(windowMs);
  const spent = spentSince(product, before);
  const percent = (seconds: number) => (100_000 * seconds) / windowMs;
  bench.report.add({
    part: 'memory',
    what: 'CPU of 1,000 idle streams, server',
    measured: percent(spent.server),
    unit: '% of a core',
    judge: 'value',
    limit: { at: 'most', value: 1 },
  });
  const what = 'CPU of 1,000 idle streams, database';
  bench.report.add({ part: 'memory', what, measured: percent(spent.database), unit: '% of a core' });
}
