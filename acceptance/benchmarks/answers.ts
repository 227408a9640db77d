import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, interleave, readCpu, spentSince } from './bench.ts';
import { median } from './statistics.ts';
import type { Subject } from './subjects.ts';

const streamCount = 100;
const answer = { tokens: 200, perSecond: 50 };
const answersPerStream = 3;
/** The first hundreds of answers are compiled as they run: a third dearer than all that follow. */
const warmingAnswers = 6;
const answerMs = (answer.tokens * 1000) / answer.perSecond;

type Spent = { server: number; database: number };
type Bounds = { server: number; database: number };

/**
 * CPU per 1,000 tokens, including everything an answer costs: creating its conversation, admission, claim, streaming
 * and end.
 */
export async function measureAnswers(bench: Bench): Promise<void> {
  await measure(bench, 'answers', {}, { server: 1.9, database: 0.6 });
}

/** The same with workspaces switched on: the model is offered their tools in every turn, and calls none. */
export async function measureAnswersWithWorkspaces(bench: Bench): Promise<void> {
  await measure(bench, 'answers-workspaces', { WORKSPACE_MODE: 'local' }, { server: 2.1, database: 0.7 });
}

async function measure(bench: Bench, part: string, env: Record<string, string>, most: Bounds): Promise<void> {
  const product = await bench.freshProduct(env);
  bench.forgetChats();
  const subjects = [await bench.productSubject(product), await bench.passThrough()];
  const results = new Map<Subject, Spent[]>(subjects.map((subject) => [subject, []]));
  for (const subject of subjects) await answerAll(subject, bench.quick ? 1 : warmingAnswers);
  await interleave(bench.rounds, subjects, async (subject) => {
    const isProduct = subject.name === 'product';
    const watched = { pid: subject.pid, databasePid: isProduct ? product.databasePid : undefined };
    const before = readCpu(watched);
    const work = () => answerAll(subject, answersPerStream);
    const tokens = isProduct ? await bench.profiled(part, product, work) : await work();
    const spent = spentSince(watched, before);
    const perThousand = (seconds: number) => (seconds * 1e6) / tokens;
    results.get(subject)?.push({ server: perThousand(spent.server), database: perThousand(spent.database) });
  });
  const [own = [], plain = []] = [...results.values()];
  const compared = { name: 'P', value: median(plain.map(({ server }) => server)) };
  for (const side of ['server', 'database'] as const) {
    bench.report.add({
      part,
      what: `per 1,000 tokens, whole answers of ${answer.tokens}, ${side}`,
      unit: 'ms CPU',
      compared,
      measured: median(own.map((spent) => spent[side])),
      judge: 'ratio',
      limit: { at: 'most', value: most[side] },
    });
  }
  await product.stop();
  bench.forgetChats();
}

/**
 * One answer after the other on each of the streams, which start at different times; resolves with the tokens of all.
 */
async function answerAll(subject: Subject, times: number): Promise<number> {
  const counts = await Promise.all(
    Array.from({ length: streamCount }, async (_, index) => {
      await delay((index * answerMs) / streamCount);
      let tokens = 0;
      for (let time = 0; time < times; time++) tokens += await (await subject.open(answer)).done;
      return tokens;
    }),
  );
  // A response's end is written after its last token was sent.
  await delay(300);
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  if (tokens !== streamCount * times * answer.tokens) throw new Error(`${subject.name}: ${tokens} tokens came`);
  return tokens;
}
