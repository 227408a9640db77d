import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { until } from '../../../contracts/test/until.ts';
import { insertUser } from '../../src/accounts/users.ts';
import { claimImport, postponeClaim, renewClaim } from '../../src/imports/import-claims.ts';
import { type Json, startTestApp } from '../app.ts';
import { createTestDatabase } from '../database.ts';
import { chatGptConversation, conversationsOf, zipOf } from './import-makers.ts';

/** How often an import is retried (contract.md section 11), and when it is given up. */

test('gives up an import that fails repeatedly, after growing delays', async () => {
  const { database, drop } = await createTestDatabase();
  const { kysely, pool } = database;
  try {
    const owner = await insertUser(kysely, { name: 'Test User', role: 'user', email: 'somebody@example.org' });
    await pool.query(
      `insert into imports (id, owner_id, state, is_wanted, size) values ('i', $1, 'reading', true, 1)`,
      [owner.id],
    );
    const rests: number[] = [];
    // Within one transaction the time of the database stands still.
    const attempt = () =>
      kysely.transaction().execute(async (trx) => {
        const run = await claimImport(trx);
        if (run === undefined) return undefined;
        await postponeClaim(trx, run);
        assert.equal(await renewClaim(trx, run), false);
        assert.equal(await claimImport(trx), undefined);
        const { rows } = await sql<{ rest: number }>`
          update imports i set claimed_until = now() - interval '1 second' from imports before where before.id = i.id
          returning extract(epoch from before.claimed_until - now())::int as rest`.execute(trx);
        return rows[0]?.rest;
      });
    for (let rest = await attempt(); rest !== undefined; rest = await attempt()) rests.push(rest);
    assert.deepEqual(rests, [2, 8, 32, 60, 60]);
    const { rows } = await pool.query('select state from imports');
    assert.deepEqual(rows, [{ state: 'failed' }]);
  } finally {
    await drop();
  }
});

test('does not give up an import that makes progress at each attempt', async (context) => {
  const count = 9;
  let updates = 0;
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-imports-'));
  const faulty = await startTestApp({
    config: { dataDir },
    // One conversation is imported, the next one fails.
    trace: async (statement, work) => {
      if (statement.startsWith('update "import_entries"') && ++updates % 2 === 0)
        throw Object.assign(new Error('could not serialize access'), { code: '40001' });
      return work();
    },
  });
  context.after(async () => {
    await faulty.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const who = await faulty.signIn();
  const conversations = Array.from({ length: count }, (_, index) => ({
    ...chatGptConversation,
    conversation_id: `cg-${index}`,
    id: `cg-${index}`,
  }));
  const archive = await zipOf({ 'conversations.json': conversations });
  const begun = await who.fetch('/api/imports', { method: 'POST', body: Buffer.from(archive) });
  const { import: made }: Json = await begun.json();
  const ended = await until('the import to end', async () => {
    // Its delays pass immediately.
    await faulty.database.database.pool.query('update imports set claimed_until = null where claim is null');
    faulty.service.deps.imports.look();
    const { body } = await who.call('GET /api/imports', undefined, { query: { id: made.id } });
    return ['reading', 'importing'].includes(body.import.state) ? undefined : body.import;
  });
  assert.deepEqual([ended.state, ended.counts.imported], ['done', count], JSON.stringify(ended));
  assert.equal((await conversationsOf(who)).length, count);
});
