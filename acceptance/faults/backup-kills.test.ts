import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '../../contracts/test/seeded-random.ts';
import { until } from '../../contracts/test/until.ts';
import { DatabaseSession } from '../database.ts';
import {
  addModels,
  type Caller,
  embeddedPid,
  freePort,
  pause,
  type Running,
  readEvents,
  scratchFolder,
  seedOf,
  setUp,
  signal,
  startProduct,
  startProvider,
} from '../product.ts';
import { createChat, postChat, submission } from './conversation.ts';
import { addPerson } from './people.ts';

/**
 * Backups of the built product while people chat, upload and have workspaces; the backup, the service or its database
 * is killed meanwhile. Every file that has its name restores, shows one instant, and has what was acknowledged before
 * it was begun. BACKUP_KILLS=30 for more rounds, with twenty people instead of five.
 */

const rounds = Number(process.env.BACKUP_KILLS ?? 3);
const peopleCount = process.env.BACKUP_KILLS === undefined ? 5 : 20;
// Together at most twenty turns a second, in short conversations: every backup is restored, and they would only grow.
const paceMs = 50 * peopleCount;
const turnsPerChat = 20;
const victims = ['backup', 'service', 'database'] as const;
const root = join(import.meta.dirname, '../..');
const dist = process.env.HOMEPORT_DIST ?? join(root, 'dist');
const secrets = {
  AUTH_SECRET: 'an auth secret of more than 32 bytes',
  SETTINGS_ENCRYPTION_KEY: 'an encryption key of more than 32 bytes',
};

/** Actions of a person in order: `message …` or `file …`, each acknowledged before the next one started. */
type Person = { caller: Caller; home: string; done: string[]; homeFiles: number };

type Stopping = {
  now: boolean;
  /** People pause while a backup is checked; otherwise the next one would only be larger. */
  resting: Promise<void> | undefined;
};

test(`makes restorable backups over ${rounds} times kill -9 of the backup, the service or the database`, {
  timeout: 300_000 + rounds * 120_000,
}, async (t) => {
  const random = seededRandom(seedOf('backup kills'));
  const [dataDir, port] = [scratchFolder(), await freePort()];
  const provider = await startProvider();
  let product = await startProduct(dataDir, secrets, port);
  const administrator = await setUp(product.url);
  const people: Person[] = [];
  for (let index = 0; index < peopleCount; index += 1) {
    const caller = await addPerson(administrator, index);
    await addModels(caller, provider.url, ['words-20@100']);
    const home = join(dataDir, 'workspaces', `made-${index}`, 'home');
    mkdirSync(home, { recursive: true });
    people.push({ caller, home, done: [], homeFiles: 0 });
  }
  const stopping: Stopping = { now: false, resting: undefined };
  const work = people.map((person, index) => live(person, index, stopping));
  // Duration of a backup without a kill.
  const startedAt = performance.now();
  await succeed(startBackup(dataDir, scratchFolder()), 'a backup');
  const wholeMs = performance.now() - startedAt;

  let finished = 0;
  const met = { backup: 0, service: 0, database: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const victim = victims[round % victims.length] ?? 'backup';
    const folder = scratchFolder();
    const before = people.map(({ done, homeFiles }) => ({ done: done.length, homeFiles }));
    const backup = startBackup(dataDir, folder);
    await pause(random() * wholeMs);
    const isMet = backup.child.exitCode === null;
    if (isMet) met[victim] += 1;
    product = await kill(victim, { backup, product, dataDir, port });
    await backup.ended;
    await succeed(startBackup(dataDir, folder), `a backup after the ${victim} was killed`);
    const rest = Promise.withResolvers<void>();
    stopping.resting = rest.promise;
    for (const name of readdirSync(folder).filter((each) => !each.includes('.partial-'))) {
      finished += 1;
      await assertOneInstant(join(folder, name), people, before);
    }
    rest.resolve();
    rmSync(folder, { recursive: true });
    if (rounds > 3) console.log(`round ${round + 1}: the ${victim} was killed, ${finished} backups are whole`);
  }
  stopping.now = true;
  await Promise.all(work);
  assert.ok(finished >= rounds);
  t.diagnostic(`${finished} backups are whole; killed while one was made: ${JSON.stringify(met)}`);
  product.kill('SIGTERM');
  assert.equal(await product.exited, 0);
  provider.kill('SIGKILL');
});

/** Chats, uploads and writes in a workspace until the end; repeats requests that failed because of a kill. */
async function live(person: Person, index: number, stopping: Stopping): Promise<void> {
  const { caller, home, done } = person;
  let chatId = '';
  const begin = async () => {
    chatId = await createChat(caller);
    return { status: 201 };
  };
  for (let turn = 0; !stopping.now; turn += 1) {
    const id = `${index}-${turn}`;
    if (turn % turnsPerChat === 0 && !(await insist(stopping, begin))) return;
    if (!(await insist(stopping, () => caller.call('POST', '/api/chat/start', submission(chatId, id))))) return;
    done.push(`message ${id}`);
    await postChat(caller, { chatId, messageId: id })
      .then(readEvents)
      .catch(() => undefined);
    const form = () => {
      const body = new FormData();
      for (const [name, value] of Object.entries({ chatId, path: `${id}.txt`, onConflict: 'fail' }))
        body.set(name, value);
      body.set('file', new Blob([id.repeat(5_000)]), `${id}.txt`);
      return caller.fetch('/api/artifacts', { method: 'POST', body });
    };
    if (!(await insist(stopping, form))) return;
    done.push(`file ${id}.txt`);
    writeFileSync(join(home, `${id}.txt`), id);
    person.homeFiles += 1;
    await pause(paceMs);
    await stopping.resting;
  }
}

/** Until it is acknowledged, or was before and the acknowledgement was lost; false: the test has ended. */
async function insist(stopping: Stopping, send: () => Promise<{ status: number }>): Promise<boolean> {
  while (!stopping.now) {
    const status = await send().then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200 || status === 201 || status === 409) return true;
    assert.ok(status === 0 || status === 429 || status >= 500, `answered ${status}`);
    await pause(20);
  }
  return false;
}

type Command = { child: ChildProcess /** Resolves when it has ended. */; ended: Promise<void>; said(): string };

function startBackup(dataDir: string, folder: string): Command {
  return admin(['backup', '--with-workspaces', '--to', `${folder}/`], dataDir);
}

function admin(args: string[], dataDir: string): Command {
  const { PATH, HOME, TMPDIR } = process.env;
  const env = { PATH, HOME, TMPDIR, DATA_DIR: dataDir, ...secrets };
  const command = [join(dist, 'server/admin.mjs'), ...args];
  const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said += data.toString();
  });
  return { child, ended: once(child, 'close').then(() => undefined), said: () => said };
}

async function succeed({ child, ended, said }: Command, what: string): Promise<void> {
  await ended;
  assert.equal(child.exitCode, 0, `${what}: ${said()}`);
}

type Scene = { backup: Command; product: Running; dataDir: string; port: number };

/** Resolves when the service runs again. */
async function kill(victim: (typeof victims)[number], { backup, product, dataDir, port }: Scene): Promise<Running> {
  if (victim === 'backup') backup.child.kill('SIGKILL');
  if (victim === 'service') {
    product.kill('SIGKILL');
    await product.exited;
    return startProduct(dataDir, secrets, port);
  }
  if (victim === 'database') {
    const pid = embeddedPid(dataDir);
    assert.ok(pid !== undefined && signal(pid, 'SIGKILL'));
    await until('the service has its database again', () =>
      fetch(`${product.url}/api/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  }
  return product;
}

/** Restored into an empty folder, each person has done the first things of their list, and at least those of before. */
async function assertOneInstant(
  file: string,
  people: readonly Person[],
  before: readonly { done: number; homeFiles: number }[],
) {
  const restored = scratchFolder();
  await succeed(admin(['restore', file, '--into', restored], restored), 'a restore');
  const product = await startProduct(restored, secrets);
  const session = await DatabaseSession.open(restored);
  const rows = await session.query(
    // A message that waits for an answer which was cut off is an input still.
    `select 'message ' || id from messages where role = 'user' union select 'message ' || id from inputs
     union select 'file ' || path from artifacts`,
  );
  session.close();
  product.kill('SIGTERM');
  await product.exited;
  const there = new Set(rows.map(([row]) => row));
  for (const [index, { done, home }] of people.entries()) {
    const first = done.findIndex((each) => !there.has(each));
    const count = first === -1 ? done.length : first;
    assert.ok(
      count >= (before[index]?.done ?? 0),
      `person ${index}: ${done[count]} was acknowledged before, and is missing`,
    );
    // The backup can contain one action that was sent and not yet acknowledged.
    const later = done.slice(count).filter((each) => there.has(each));
    assert.deepEqual(later, [], `person ${index}: there, but not ${done[count]}, which was before`);
    const kept = join(restored, 'workspaces', `made-${index}`, 'home');
    const files = existsSync(kept) ? readdirSync(kept).length : 0;
    assert.ok(files >= (before[index]?.homeFiles ?? 0), `${home} lacks files`);
  }
  rmSync(restored, { recursive: true, force: true });
}
