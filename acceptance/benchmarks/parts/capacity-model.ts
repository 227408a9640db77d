import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { leastSquares } from '../least-squares.ts';
import { Connection } from '../load/connection.ts';
import { productSubject, type Script } from '../load/subjects.ts';
import { cpuSeconds, familyCpuSeconds, residentBytes } from '../servers/processes.ts';
import { type Replicas, startReplicas } from '../servers/replicas.ts';

/** Consumed resources: CPU in seconds, write-ahead log in bytes, rows inserted, updated and deleted. */
const resources = ['server CPU', 'database CPU', 'WAL', 'rows'] as const;
type Spent = Record<(typeof resources)[number], number>;
/** Parts of a load. */
const causes = ['turns', 'tokens', 'pieces', 'busySeconds', 'replicaSeconds'] as const;
/** Interval in which a replica stores new pieces of answers: `tickMs` in server/src/chat/run/running-responses.ts. */
const piecesPerSecond = 10;
type Work = Omit<Load, 'busySeconds' | 'replicaSeconds'>;
type Load = Record<(typeof causes)[number], number>;
type Run = { load: Load; spent: Spent };
/** So many streams, each with one answer after the other. */
type Mix = { streams: number; script: Script; answers: number }[];

// Each makes another cause dominate.
const calibration: { name: string; mix: Mix }[] = [
  { name: 'short answers', mix: [{ streams: 30, script: { tokens: 10, perSecond: 50 }, answers: 25 }] },
  { name: 'slow answers', mix: [{ streams: 80, script: { tokens: 80, perSecond: 8 }, answers: 1 }] },
  { name: 'fast answers', mix: [{ streams: 30, script: { tokens: 1_000, perSecond: 100 }, answers: 1 }] },
  { name: 'few answers', mix: [{ streams: 4, script: { tokens: 500, perSecond: 50 }, answers: 1 }] },
  { name: 'usual answers', mix: [{ streams: 50, script: { tokens: 200, perSecond: 50 }, answers: 3 }] },
];
const predicted: Mix = [
  { streams: 18, script: { tokens: 60, perSecond: 30 }, answers: 6 },
  { streams: 12, script: { tokens: 400, perSecond: 35 }, answers: 1 },
  { streams: 9, script: { tokens: 900, perSecond: 75 }, answers: 1 },
];
// Until the code of every replica is compiled and its connections have their plans: the model is of a service that
// runs.
const warmUp = (replicas: number): Mix => [
  { streams: 40 * replicas, script: { tokens: 50, perSecond: 50 }, answers: 20 },
];
const idleSeconds = 15;
const idle: Work = { turns: 0, tokens: 0, pieces: 0 };
const followerCount = 400;

/**
 * Fits the cost of answers from runs on one and two replicas, and checks the fit against a run with another mix at
 * other rates on three (docs/scaling.md). Also measures the cost of an idle follower and a stored turn.
 */
export async function measureCapacityModel(bench: Bench): Promise<void> {
  const sets: Replicas[] = [];
  for (const count of [1, 2, 3]) sets.push(await warm(bench, count));
  const [one, two, three] = sets as [Replicas, Replicas, Replicas];
  const runs: Run[] = [];
  const unseen: Run[] = [];
  // Taking turns, since the speed of the machine changes within minutes.
  const foresee = async () => unseen.push(await measured(three, () => run(three, predicted)));
  for (const replicas of [one, two]) runs.push(await measured(replicas, () => delay(idleSeconds * 1000, idle)));
  await foresee();
  for (let round = 0; round < (bench.quick ? 1 : 2); round++) {
    for (const replicas of [one, two]) {
      for (const { mix } of calibration) runs.push(await measured(replicas, () => run(replicas, mix)));
      await foresee();
    }
  }
  await measureIdle(bench, one);
  await measureMerging(bench, one);
  for (const replicas of sets) await replicas.stop();
  const model = fit(runs);
  for (const resource of resources) addCoefficients(bench, resource, model[resource]);
  for (const resource of resources) {
    const spent = unseen.reduce((sum, each) => sum + each.spent[resource], 0);
    const expected = unseen.reduce((sum, { load }) => sum + expectedOf(load, model[resource]), 0);
    const error = Math.max(spent / expected, expected / spent);
    const what = `${resource} of another mix on three replicas, against the model`;
    bench.report.add({
      part: 'capacity-model',
      what,
      unit: 'times',
      measured: error,
      judge: 'value',
      limit: { at: 'most', value: 1.2 },
      note: `(measured ${spent.toPrecision(3)}, predicted ${expected.toPrecision(3)}, in ${unseen.length} runs)`,
    });
  }
}

/** Replicas and a PostgreSQL of their own that have worked for a while. */
async function warm(bench: Bench, count: number): Promise<Replicas> {
  const replicas = await startReplicas(bench.dist, count, (await bench.provider()).port);
  // Every 2,000 turns, PostgreSQL puts their words into the search index: in one run and not in another
  // (measureMerging).
  await replicas.database.query(`alter system set gin_pending_list_limit = '1TB'`);
  await replicas.database.query('select pg_reload_conf()');
  await run(replicas, warmUp(count));
  return replicas;
}

function expectedOf(load: Load, model: readonly number[]): number {
  return causes.reduce((sum, cause, index) => sum + load[cause] * (model[index] ?? 0), 0);
}

function fit(runs: readonly Run[]): Record<(typeof resources)[number], number[]> {
  const amounts = runs.map(({ load }) => causes.map((cause) => load[cause]));
  const of = (resource: keyof Spent) =>
    leastSquares(
      amounts,
      runs.map(({ spent }) => spent[resource]),
    );
  return { 'server CPU': of('server CPU'), 'database CPU': of('database CPU'), WAL: of('WAL'), rows: of('rows') };
}

function addCoefficients(bench: Bench, resource: keyof Spent, found: readonly number[]): void {
  const isCpu = resource.endsWith('CPU');
  const unit = isCpu ? 'ms' : resource === 'WAL' ? 'bytes' : 'rows';
  for (const [index, cause] of [
    'turn',
    'token',
    'stored piece of an answer',
    'second of a busy replica',
    'second of a replica',
  ].entries()) {
    const value = (found[index] ?? 0) * (isCpu ? 1000 : 1);
    bench.report.add({ part: 'capacity-model', what: `${resource} per ${cause}`, measured: value, unit });
  }
}

/** Runs `work`; returns the amount of work and the resources it used. */
async function measured(replicas: Replicas, work: () => Promise<Work>): Promise<Run> {
  const before = await read(replicas);
  const beganAt = performance.now();
  const load = await work();
  // A response's end is written after its last token was sent.
  await delay(1_000);
  const seconds = (performance.now() - beganAt) / 1000;
  const after = await read(replicas);
  const spent = (resource: keyof Spent) => after[resource] - before[resource];
  return {
    load: {
      ...load,
      busySeconds: load.turns === 0 ? 0 : seconds * replicas.pids.length,
      replicaSeconds: seconds * replicas.pids.length,
    },
    spent: {
      'server CPU': spent('server CPU'),
      'database CPU': spent('database CPU'),
      WAL: spent('WAL'),
      rows: spent('rows'),
    },
  };
}

async function read({ pids, postmaster, database }: Replicas): Promise<Spent> {
  await database.query('select pg_stat_clear_snapshot()');
  // PostgreSQL counts rows of a session when it is idle.
  await delay(1_200);
  const { rows } = await database.query(
    `select (select pg_current_wal_lsn() - '0/0') as wal,
      (select tup_inserted + tup_updated + tup_deleted from pg_stat_database where datname = current_database()) as rows`,
  );
  return {
    'server CPU': pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    'database CPU': familyCpuSeconds(postmaster),
    WAL: Number(rows[0]?.wal),
    rows: Number(rows[0]?.rows),
  };
}

/** The streams take turns over the replicas and begin at different times. */
async function run(replicas: Replicas, mix: Mix): Promise<Work> {
  const subjects = replicas.ports.map((port, index) =>
    productSubject({ port, cookie: replicas.cookie, pid: replicas.pids[index] ?? 0 }, replicas.takeChat),
  );
  const load = { ...idle };
  const streams = mix.flatMap(({ streams: count, ...rest }) => Array.from({ length: count }, () => rest));
  await Promise.all(
    streams.map(async ({ script, answers }, index) => {
      await delay(index * 20);
      for (let answer = 0; answer < answers; answer++) {
        const opened = await subjects[index % subjects.length]?.open(script);
        const tokens = (await opened?.done) ?? 0;
        load.tokens += tokens;
        load.turns += 1;
        load.pieces += tokens * Math.min(1, piecesPerSecond / script.perSecond);
      }
    }),
  );
  return load;
}

/** Measures the cost per turn of merging the words of all turns into the search index. */
async function measureMerging(bench: Bench, replicas: Replicas): Promise<void> {
  const { rows } = await replicas.database.query('select count(*) as turns from responses');
  const perTurn = (value: number) => value / Number(rows[0]?.turns);
  const before = await read(replicas);
  for (const index of ['messages_search', 'chats_title_search']) {
    await replicas.database.query('select gin_clean_pending_list($1)', [index]);
  }
  const after = await read(replicas);
  const row = (resource: 'database CPU' | 'WAL', unit: string, factor: number) =>
    bench.report.add({
      part: 'capacity-model',
      what: `${resource} per turn for the search index`,
      unit,
      measured: perTurn((after[resource] - before[resource]) * factor),
    });
  row('database CPU', 'ms', 1000);
  row('WAL', 'bytes', 1);
}

/** Measures the cost of idle followers and the database size of a turn. */
async function measureIdle(bench: Bench, replicas: Replicas): Promise<void> {
  const [port = 0] = replicas.ports;
  const [pid = 0] = replicas.pids;
  const provider = await bench.provider();
  const subject = productSubject({ port, cookie: replicas.cookie, pid }, replicas.takeChat);
  const held = await subject.open({ tokens: 1, perSecond: 50, hold: true });
  await held.first;
  const memory = residentBytes(pid);
  const followers = await Promise.all(
    Array.from({ length: followerCount }, async () => {
      const connection = await Connection.open(port);
      const text = connection.requestText('GET', `/api/chat/${held.chatId}/stream`, replicas.cookie);
      connection.stream(text, { onData: () => undefined, onClose: () => undefined });
      return connection;
    }),
  );
  await delay(3_000);
  const before = cpuSeconds(pid);
  await delay(idleSeconds * 1000);
  const perFollower = (value: number) => value / followerCount;
  const row = { part: 'capacity-model' };
  bench.report.add({
    ...row,
    what: 'server CPU per idle follower and second',
    unit: 'ms',
    measured: perFollower(((cpuSeconds(pid) - before) * 1000) / idleSeconds),
  });
  bench.report.add({
    ...row,
    what: 'memory per idle follower',
    unit: 'kB',
    measured: perFollower((residentBytes(pid) - memory) / 1024),
  });
  for (const connection of followers) connection.close();
  provider.finishAll();
  await held.done;
  const { rows } = await replicas.database.query(
    `select pg_database_size(current_database()) as bytes, (select count(*) from responses) as turns,
      (select count(*) from pg_stat_activity where datname = current_database()) as connections`,
  );
  bench.report.add({
    ...row,
    what: 'database per stored turn, everything included',
    unit: 'kB',
    measured: Number(rows[0]?.bytes) / 1024 / Number(rows[0]?.turns),
  });
  bench.report.add({
    ...row,
    what: 'database connections of one replica under load',
    unit: '',
    measured: Number(rows[0]?.connections) - 1,
  });
}
