import { type Bench, interleave } from './bench.ts';
import { Histogram } from './statistics.ts';
import { Streams } from './streams.ts';

const turns = 60;
const turnsPerSecond = 10;
/** About 1,000 tokens. */
const instructions = 'Answer briefly. Name files by their paths. Prefer tables where numbers are compared. '.repeat(50);

/**
 * Measures the cost of the installation's and the person's instructions until the first token: the same turns with and
 * without them.
 */
export async function measureInstructions(bench: Bench): Promise<void> {
  const product = await bench.product();
  const subject = await bench.productSubject();
  const told = { with: new Histogram(), without: new Histogram() };
  await bench.prepareChats(product, bench.rounds * turns * 2);
  await interleave(bench.rounds, ['without', 'with'] as const, async (kind) => {
    const text = kind === 'with' ? instructions : null;
    await product.call('POST', '/api/admin/config', { instructions: text });
    await product.call('PATCH', '/api/me/personalization', { instructions: text });
    const streams = new Streams(subject);
    const script = { tokens: 5, perSecond: 50 };
    const opened = await streams.add(turns, script, (turns / turnsPerSecond) * 1000);
    await streams.finished();
    for (const { first, askedAt } of opened) told[kind].add((await first) - askedAt);
  });
  const [later, plain] = [told.with.percentile(0.5), told.without.percentile(0.5)];
  bench.report.add({
    part: 'instructions',
    what: 'first token later than without, p50',
    measured: later - plain,
    unit: 'ms',
    judge: 'value',
    limit: { at: 'most', value: 2 },
    note: `(${later.toFixed(1)} against ${plain.toFixed(1)} ms, ${told.with.count} answers each)`,
  });
}
