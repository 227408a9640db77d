import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Json, startTestApp, type TestApp } from '../app.ts';
import { admin } from '../command-admin.ts';
import { databaseSettings } from '../database.ts';
import { chatGptArchive, conversationsOf } from './import-makers.ts';

/** `npm run admin -- import` beside a running service. */

let app: TestApp;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-command-'));
  app = await startTestApp({ config: { dataDir: folder } });
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

async function run(...args: string[]) {
  const { encryptionKey, dataDir, artifactStore = '' } = app.service.deps.config;
  const env = { ...databaseSettings(app.database), SETTINGS_ENCRYPTION_KEY: encryptionKey, DATA_DIR: dataDir };
  return admin(args, { ...env, ARTIFACT_STORE: artifactStore });
}

test('tries an archive, imports it, or refuses it with a reason, and a trial run leaves nothing open', async () => {
  const who = await app.signIn();
  const file = join(folder, 'export.zip');
  await writeFile(file, await chatGptArchive());
  const bring = (...more: string[]) => run('import', file, '--user', who.email, ...more);
  const tried = await bring('--dry-run');
  assert.equal(tried.code, 0, tried.output);
  assert.match(tried.output, /A trial run of chatgpt\.\nNew: 2\./);
  const { body } = await who.call('GET /api/imports');
  assert.deepEqual(
    body.imports.map(({ state }: Json) => state),
    ['cancelled'],
  );
  assert.deepEqual(await conversationsOf(who), []);

  // The service does part of the work, too.
  const looks = setInterval(() => app.service.deps.imports.look(), 10);
  const done = await bring('--json').finally(() => clearInterval(looks));
  assert.equal(done.code, 0, done.output);
  assert.match(done.output, /"state":"done".*"imported":2/);
  assert.equal((await conversationsOf(who)).length, 2);

  await writeFile(file, 'no archive');
  const refused = await bring();
  assert.deepEqual([refused.code, /The import failed\.\nThis is neither a zip/.test(refused.output)], [1, true]);
  const missing = await run('import', join(folder, 'none.zip'), '--user', who.email);
  assert.deepEqual([missing.code, /is not a readable file/.test(missing.output)], [1, true], missing.output);
  assert.equal((await run('import', file)).code, 2);
});

test('lists every command once', async () => {
  const { output } = await run('--help');
  const names = [...output.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?)/gm)].map(([, name]) => name);
  assert.ok(names.length > 15);
  assert.deepEqual(names, [...new Set(names)]);
});
