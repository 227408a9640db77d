import { setTimeout as delay } from 'node:timers/promises';
import { type ProviderKind, providerKinds } from '@homeport/contracts/catalogue/provider-kinds';
import { type Bench, interleave, readCpu, spentSince } from './bench.ts';
import type { Product } from './product.ts';
import { median } from './statistics.ts';
import { Streams } from './streams.ts';
import type { Subject } from './subjects.ts';
import { oneRound, streamCount, warmUp } from './tokens.ts';

const most = 1.25;
const unpacedStreams = 8;
const unpacedTokens = 10_000;

type Spent = { paced: number[]; unpaced: number[] };

/** CPU per 1,000 streamed tokens of each protocol, beside chat completions in the same run. */
export async function measureKinds(bench: Bench): Promise<void> {
  const windowMs = bench.quick ? 3_000 : 5_000;
  const product = await bench.product();
  const { port } = await bench.provider();
  const subjects = new Map<ProviderKind, Subject>();
  for (const kind of providerKinds) subjects.set(kind, await subjectOf(bench, product, kind, port));
  await bench.prepareChats(product, (streamCount + unpacedStreams) * (bench.rounds + 1) * providerKinds.length);
  for (const subject of subjects.values()) await warmUp(subject);
  const spent = new Map<ProviderKind, Spent>(providerKinds.map((kind) => [kind, { paced: [], unpaced: [] }]));
  await interleave(bench.rounds, [...subjects], async ([kind, subject]) => {
    const watched = { pid: product.pid, databasePid: product.databasePid };
    const round = await bench.profiled(kind, product, () => oneRound(subject, watched, windowMs));
    spent.get(kind)?.paced.push(round.server);
    const before = readCpu(watched);
    const tokens = await bench.profiled(`${kind}, unpaced`, product, () => readUnpaced(subject));
    spent.get(kind)?.unpaced.push((spentSince(watched, before).server * 1e6) / tokens);
  });
  for (const way of ['paced', 'unpaced'] as const) {
    const value = (kind: ProviderKind): number => median(spent.get(kind)?.[way] ?? []);
    for (const kind of providerKinds.slice(1)) {
      bench.report.add({
        part: 'kinds',
        what: `per 1,000 tokens of ${kind}, ${way}, server`,
        unit: 'ms CPU',
        measured: value(kind),
        compared: { name: 'openai', value: value('openai') },
        ...(way === 'paced' ? { judge: 'ratio', limit: { at: 'most', value: most } } : {}),
      });
    }
  }
}

async function subjectOf(bench: Bench, product: Product, kind: ProviderKind, port: number): Promise<Subject> {
  const fields = {
    name: `Bench ${kind}`,
    kind,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: 'bench-key-0123456789',
  };
  const made = (await product.call('POST', '/api/providers', fields)) as { provider: { id: string } };
  const added = (await product.call('POST', '/api/models', {
    providerId: made.provider.id,
    providerModelId: 'bench',
    displayName: `Bench ${kind}`,
    contextWindow: 1_000_000,
    maxOutputTokens: 1_000,
    tier: 1,
  })) as { model: { id: string } };
  const subject = await bench.productSubject();
  const options = { modelId: added.model.id };
  return { ...subject, name: kind, open: (script, onToken) => subject.open(script, onToken, options) };
}

/** As fast as the provider can send; resolves with the tokens that came. */
async function readUnpaced(subject: Subject): Promise<number> {
  const streams = new Streams(subject);
  await streams.add(unpacedStreams, { tokens: unpacedTokens, perSecond: 0 }, 0);
  await streams.finished();
  await delay(300);
  if (streams.tokens !== unpacedStreams * unpacedTokens)
    throw new Error(`${subject.name}: ${streams.tokens} tokens came`);
  return streams.tokens;
}
