import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, interleave, readCpu, spentSince } from '../bench.ts';
import { Connection } from '../load/connection.ts';
import type { Subject } from '../load/subjects.ts';
import type { Product } from '../servers/product.ts';
import { median } from '../statistics.ts';

const streamCount = 100;
const answer = { tokens: 200, perSecond: 50 };
const answersPerStream = 3;
/** The first hundreds of answers are compiled as they run: a third dearer than all that follow. */
const warmingAnswers = 6;
const answerMs = (answer.tokens * 1000) / answer.perSecond;

/** An answer needs three requests of a person, and four commits. */
const requestsPerAnswer = 3;

type Spent = { server: number; database: number };
type Bounds = { server: number; database: number };
/** `work` does so many answers on each stream and resolves with their tokens. */
type Worker = { name: string; pid: number; databasePid?: number; work(times: number): Promise<number> };

/**
 * CPU per 1,000 tokens, including the whole cost of an answer: creating its conversation, admission, claim, streaming
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
  const own = answering(await bench.productSubject(product), product.databasePid);
  const plain = answering(await bench.passThrough());
  const minimal = await requesting(bench, product);
  const workers = [{ ...own, work: (times: number) => bench.profiled(part, product, () => own.work(times)) }, plain];
  const results = new Map<string, Spent[]>([own, plain, minimal].map(({ name }) => [name, []]));
  const round = async (worker: Worker) => {
    const before = readCpu(worker);
    const tokens = await worker.work(answersPerStream);
    const spent = spentSince(worker, before);
    const perThousand = (seconds: number) => (seconds * 1e6) / tokens;
    results.get(worker.name)?.push({ server: perThousand(spent.server), database: perThousand(spent.database) });
  };
  for (const worker of workers) await worker.work(bench.quick ? 1 : warmingAnswers);
  await interleave(bench.rounds, workers, round);
  // Not between the others: the product would be idle for so long that it closes its connections.
  await minimal.work(1);
  await interleave(bench.rounds, [minimal], round);
  const of = ({ name }: Worker, side: keyof Spent) => median((results.get(name) ?? []).map((spent) => spent[side]));
  const compared = { name: 'P', value: of(plain, 'server') };
  const unit = 'ms CPU';
  for (const side of ['server', 'database'] as const) {
    const what = `per 1,000 tokens, whole answers of ${answer.tokens}, ${side}`;
    const limit = { at: 'most', value: most[side] } as const;
    bench.report.add({ part, what, unit, compared, measured: of(own, side), judge: 'ratio', limit });
  }
  const note = `M: ${requestsPerAnswer} requests that insert a row and commit; no text, no search, no reading for the turn`;
  const least = { server: compared.value + of(minimal, 'server'), database: of(minimal, 'database') };
  bench.report.add({
    part,
    what: 'the least, server: tokens by P, requests by M',
    unit,
    compared,
    measured: least.server,
    note,
  });
  bench.report.add({ part, what: 'the least, database: of M', unit, compared, measured: least.database, note });
  await product.stop();
  bench.forgetChats();
}

function answering(subject: Subject, databasePid?: number): Worker {
  return { name: subject.name, pid: subject.pid, databasePid, work: (times) => answerAll(subject, times) };
}

/** M at the same pace, with the product's database: the cost of the requests of these answers for any application. */
async function requesting(bench: Bench, product: Product): Promise<Worker> {
  const { pid, port } = await bench.minimalApp(product);
  return {
    name: 'M',
    pid,
    databasePid: product.databasePid,
    async work(times) {
      await onStreams(async () => {
        for (let time = 0; time < times; time++) {
          // One for each answer: M closes those that are idle for a few seconds.
          const connection = await Connection.open(port);
          const text = connection.requestText('POST', '/api/chats', product.cookie, '{"title":"A bench title"}');
          for (let each = 0; each < requestsPerAnswer; each++) {
            const { status, body } = await connection.exchange(text);
            if (status !== 201) throw new Error(`M answered ${status}: ${body}`);
          }
          connection.close();
          if (time < times - 1) await delay(answerMs);
        }
      });
      return streamCount * times * answer.tokens;
    },
  };
}

/** The same on each of the streams, which start at different times. */
function onStreams<T>(run: () => Promise<T>): Promise<T[]> {
  const streams = Array.from({ length: streamCount }, async (_, index) => {
    await delay((index * answerMs) / streamCount);
    return run();
  });
  return Promise.all(streams);
}

/** One answer after the other on each of the streams; resolves with the tokens of all. */
async function answerAll(subject: Subject, times: number): Promise<number> {
  const counts = await onStreams(async () => {
    let tokens = 0;
    for (let time = 0; time < times; time++) tokens += await (await subject.open(answer)).done;
    return tokens;
  });
  // A response's end is written after its last token was sent.
  await delay(300);
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  if (tokens !== streamCount * times * answer.tokens) throw new Error(`${subject.name}: ${tokens} tokens came`);
  return tokens;
}
