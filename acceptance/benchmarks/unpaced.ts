import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, interleave, readCpu, spentSince } from './bench.ts';
import { median } from './statistics.ts';
import { Streams } from './streams.ts';
import type { Subject } from './subjects.ts';

const streamCount = 8;

/** Tokens per CPU-second when the provider sends as fast as it can. */
export async function measureUnpaced(bench: Bench): Promise<void> {
  await measure(bench, bench.quick ? 10_000 : 25_000, 'long answers', 0.4);
  await measure(bench, 2_000, 'answers of 2,000', 0.55);
}

async function measure(bench: Bench, tokens: number, name: string, least: number): Promise<void> {
  const product = await bench.product();
  const subjects = [await bench.productSubject(), await bench.passThrough()];
  await bench.prepareChats(product, streamCount * (bench.rounds + 1));
  const rates = new Map<Subject, number[]>(subjects.map((subject) => [subject, []]));
  const withDatabase: number[] = [];
  for (const subject of subjects) await run(subject, 3_000);
  await interleave(bench.rounds, subjects, async (subject) => {
    const isProduct = subject.name === 'product';
    const watched = { pid: subject.pid, databasePid: isProduct ? product.databasePid : undefined };
    const before = readCpu(watched);
    const work = () => run(subject, tokens);
    const counted = isProduct ? await bench.profiled('unpaced', product, work) : await work();
    const spent = spentSince(watched, before);
    rates.get(subject)?.push(counted / spent.server);
    if (isProduct) withDatabase.push(counted / (spent.server + spent.database));
  });
  const [own = [], plain = []] = [...rates.values()];
  const compared = { name: 'P', value: median(plain) };
  bench.report.add({
    part: 'unpaced',
    what: `tokens per CPU-second, ${name}, server`,
    measured: median(own),
    unit: '',
    compared,
    judge: 'ratio',
    limit: { at: 'least', value: least },
  });
  bench.report.add({
    part: 'unpaced',
    what: `tokens per CPU-second, ${name}, server and database`,
    unit: '',
    compared,
    measured: median(withDatabase),
  });
}

async function run(subject: Subject, tokens: number): Promise<number> {
  const streams = new Streams(subject);
  await streams.add(streamCount, { tokens, perSecond: 0 }, 0);
  await streams.finished();
  await delay(300);
  if (streams.tokens !== streamCount * tokens) {
    throw new Error(`${subject.name}: ${streams.tokens} tokens came of ${streamCount * tokens}`);
  }
  return streams.tokens;
}
