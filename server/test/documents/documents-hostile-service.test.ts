import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { until } from '../../../contracts/test/until.ts';
import { documentBounds } from '../../src/documents/document.ts';
import { type Json, type SignedIn, startTestApp } from '../app.ts';
import { upload } from '../artifacts/artifact-makers.ts';
import { createChat } from '../chat/chat-harness.ts';
import { watchTurns } from '../loop-turns.ts';
import { makeHostileFiles } from './hostile-documents.ts';
import type { HostileFile } from './hostile-file.ts';

/** The service's results for hostile files, with its own limits, while it answers other requests. */

/** No turn of the event loop can take longer on an idle machine. */
const longestTurnMs = 200;
/**
 * The machine has other work, and garbage is collected now and then: a turn counts as too long only if it is so each
 * time.
 */
const mostTries = 3;

type Files = Map<string, HostileFile>;

test('each hostile file gets a clear reason within its limits and blocks no other request', {
  timeout: 800_000,
}, async (t) => {
  const files = makeHostileFiles();
  assert.ok(files.length >= 40, `${files.length} files`);
  const app = await startTestApp({ config: { artifactMaxUploadBytes: 8 * 1024 * 1024 } });
  t.after(() => app.stop());
  const user = await app.signIn();
  const chatId = await createChat(user);
  const stored: Files = new Map();
  for (const file of files) {
    const answer = await upload(user, { chatId }, { ...file, type: 'application/octet-stream' });
    assert.equal(answer.status, 201, answer.text);
    stored.set(answer.body.artifact.id, file);
  }
  const { pool } = app.service.deps.db;
  for (let tries = 1; ; tries += 1) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const turns = watchTurns();
    delay.enable();
    const read = await readAll(user, chatId, stored);
    delay.disable();
    const longest = turns.stop();
    t.diagnostic(`longest turn ${longest.toFixed(0)} ms of CPU; delay of the event loop at most ${inMs(delay.max)} ms`);
    assert.deepEqual(
      read.map(({ name, word }) => `${name}: ${word}`),
      files.map(({ name, expected, warning }) => `${name}: ${expected}${warning === undefined ? '' : `, ${warning}`}`),
    );
    for (const { name, body } of read) {
      if (body.problem !== null) assert.match(body.problem.message, /^[A-Z][^<>{}]{10,160}\.$/, name);
      assert.ok((body.pages ?? 0) <= documentBounds.maxPages, name);
    }
    const { rows } = await pool.query(
      'select coalesce(max(size), 0)::int as bytes from (select sum(octet_length(text)) as size from document_chunks group by sha256) each',
    );
    assert.ok(rows[0].bytes <= documentBounds.maxTextBytes, `${rows[0].bytes} bytes of text`);
    const allowed = Math.max(longestTurnMs, 8 * largeTextMs());
    if (longest < allowed) return;
    assert.ok(tries < mostTries, `a turn of the event loop took ${longest} ms of CPU each time (${allowed})`);
    // As if they had not been read yet.
    await pool.query('delete from documents');
  }
});

/** Requests all of them at the same time, as clients do. */
async function readAll(user: SignedIn, chatId: string, files: Files) {
  return Promise.all(
    [...files].map(async ([id, { name, warning }]) => {
      const body = await textOf(user, { chatId, id });
      const warned = warning === undefined ? [] : body.warnings.map(({ code }: Json) => code);
      return { name, body, word: [body.problem?.code ?? body.state, ...warned].join(', ') };
    }),
  );
}

async function textOf(user: SignedIn, query: { chatId: string; id: string }): Promise<Json> {
  return until(
    'the text',
    async () => {
      const answer = await user.call('GET /api/artifacts/text', undefined, { query });
      assert.equal(answer.status, 200, answer.text);
      return answer.body.state !== 'working' && answer.body;
    },
    300_000,
  );
}

/** The current cost of parsing a large text: an eighth of the longest turn on an idle machine. */
function largeTextMs(): number {
  const text = `"${'\\u20ac'.repeat(limits.jsonBodyBytes / 6 - 1)}"`;
  const times = [1, 2, 3].map(() => {
    const before = process.threadCpuUsage();
    JSON.parse(text);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

function inMs(nanoseconds: number): string {
  return (nanoseconds / 1e6).toFixed(0);
}
