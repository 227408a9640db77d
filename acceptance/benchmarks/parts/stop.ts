import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { Connection } from '../load/connection.ts';
import { monotonicMs } from '../load/monotonic.ts';
import { Streams } from '../load/streams.ts';
import { Histogram } from '../statistics.ts';

const streamCount = 100;
const everyMs = 20;

/** From sending Stop until the provider sees its request aborted, with up to 100 streams in progress. */
export async function measureStop(bench: Bench): Promise<void> {
  const product = await bench.product();
  const provider = await bench.provider();
  const subject = await bench.productSubject();
  const reached = new Histogram();
  for (let round = 0; round < bench.rounds; round++) {
    await bench.prepareChats(product, streamCount);
    const streams = new Streams(subject);
    await streams.add(streamCount, { tokens: 3_000, perSecond: 50 }, 1_000);
    await Promise.all(
      streams.open.map(async (stream, index) => {
        await delay(index * everyMs);
        const connection = await Connection.open(product.port);
        const path = `/api/chat/${stream.chatId}/stop`;
        const sentAt = monotonicMs();
        const answer = await connection.exchange(connection.requestText('POST', path, product.cookie, '{}'));
        if (answer.status !== 200) throw new Error(`POST ${path} answered ${answer.status}: ${answer.body}`);
        reached.add((await provider.aborted(stream.id)) - sentAt);
        connection.close();
        await stream.done;
      }),
    );
  }
  bench.report.add({
    part: 'stop',
    what: 'Stop reaches the provider, p50',
    measured: reached.percentile(0.5),
    unit: 'ms',
  });
  bench.report.add({
    part: 'stop',
    what: 'Stop reaches the provider, p99',
    measured: reached.percentile(0.99),
    unit: 'ms',
    judge: 'value',
    limit: { at: 'most', value: 300 },
    note: `(${reached.count} stops)`,
  });
}
