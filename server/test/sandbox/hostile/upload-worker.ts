import { readFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { until } from '../../../../contracts/test/until.ts';
import { type Caller, createCaller, type Json } from '../../app.ts';
import { upload } from '../../artifacts/artifact-makers.ts';
import type { Attack } from './attacks.ts';

/** The clients of one round of uploads, in a thread of their own: the service's event loop doesn't run them. */
export type UploadRound = {
  url: string;
  adminCookie: string | undefined;
  attackerCookies: (string | undefined)[];
  attacks: Attack[];
  /** Waits until the service has read each file. */
  isWaiting: boolean;
};

const round: UploadRound = workerData;
const admin = createCaller(round.url, round.adminCookie);
const attackers = round.attackerCookies.map((cookie) => createCaller(round.url, cookie));
parentPort?.postMessage(await uploadAll(admin, attackers, round.attacks, round.isWaiting));

/** Each user uploads one file after the other. Resolves with their results. */
async function uploadAll(admin: Caller, attackers: Caller[], attacks: Attack[], isWaiting: boolean): Promise<string[]> {
  const queue = attacks.values();
  const results: string[] = [];
  const attack = async (who: Caller): Promise<void> => {
    const chatId = (await who.call('POST /api/chats', {})).body.chat.id;
    for (const each of queue) results.push(`${each.name} ${await uploadOne(admin, who, chatId, each, isWaiting)}`);
  };
  await Promise.all(attackers.map(attack));
  return results;
}

async function uploadOne(
  admin: Caller,
  who: Caller,
  chatId: string,
  { name, path, to }: Attack,
  isWaiting: boolean,
): Promise<string> {
  const bytes = await readFile(path);
  if (to === 'files') {
    const stored = await upload(who, { chatId }, { name, bytes, type: 'application/octet-stream' });
    if (stored.status !== 201) return `upload ${stored.status}`;
    const query = { chatId, id: stored.body.artifact.id };
    return until(
      name,
      async () => {
        const { status, body }: Json = await who.call('GET /api/artifacts/text', undefined, { query });
        return (!isWaiting || body.state !== 'working') && `${body.problem?.code ?? body.state} ${status}`;
      },
      300_000,
    );
  }
  if (to === 'imports') {
    const begun = await who.fetch('/api/imports?start=1', { method: 'POST', body: Buffer.from(bytes) });
    if (begun.status !== 202) return `${begun.status}`;
    const { import: made }: Json = await begun.json();
    return until(
      name,
      async () => {
        const { status, body } = await who.call('GET /api/imports', undefined, { query: { id: made.id } });
        return (
          (!isWaiting || !['reading', 'importing'].includes(body.import.state)) && `${body.import.state} ${status}`
        );
      },
      300_000,
    );
  }
  if (to === 'skills') {
    const form = new FormData();
    form.set('file', new Blob([Uint8Array.from(bytes)]), 'skill.zip');
    return `${(await who.fetch('/api/skills', { method: 'POST', body: form })).status}`;
  }
  const [method, route] = to === 'manifest' ? ['POST', '/api/admin/provision'] : ['PUT', '/api/admin/model-registry'];
  const headers = { 'content-type': 'application/json' };
  return `${(await admin.fetch(route, { method, headers, body: Uint8Array.from(bytes) })).status}`;
}
