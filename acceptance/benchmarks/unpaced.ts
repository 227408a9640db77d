import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, interleave, readCpu, spentSince } from './bench.ts';
import { median } from './statistics.ts';
import { Streams } from './streams.ts';
import type { Subject } from './subjects.ts';

const streamCount = 8;

/** Tokens per CPU-second when the provider sends as fast as it can. */
export async function measureUnpaced(bench: Bench): Promise<void> {
  await measure(bench, { tokens: bench.quick ? 10_000 : 25_000, times: 1 }, 'long answers', 0.4);
  // Several in a row: one round of them is a few ticks of the clock that counts a process's time.
  await measure(bench, { tokens: 2_000, times: bench.quick ? 3 : 10 }, 'answers of 2,000', 0.55);
}

type Load = { tokens: number; times: number };

async function measure(bench: Bench, load: Load, name: string, least: number): Promise<void> {
  const product = await bench.product();
  const subjects = [await bench.productSubject(), await bench.passThrough()];
  await bench.prepareChats(product, streamCount * (bench.rounds * load.times + 1));
  const rates = new Map<Subject, number[]>(subjects.map((subject) => [subject, []]));
  const withDatabase: number[] = [];
  for (const subject of subjects) await run(subject, { tokens: 3_000, times: 1 });
  await interleave(bench.rounds, subjects, async (subject) => {
    const isProduct = subject.name === 'product';
    const watched = { pid: subject.pid, databasePid: isProduct ? product.databasePid : undefined };
    const before = readCpu(watched);
    const work = () => run(subject, load);
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

async function run(subject: Subject, { tokens, times }: Load): Promise<number> {
  let counted = 0;
  for (let time = 0; time < times; time++) {
    const streams = new Streams(subject);
    await streams.add(streamCount, { tokens, perSecond: 0 }, 0);
    await streams.finished();
    counted += streams.tokens;
  }
  await delay(300);
  const sent = streamCount * tokens * times;
  if (counted !== sent) throw new Error(`${subject.name}: ${counted} tokens came of ${sent}`);
  return counted;
}
