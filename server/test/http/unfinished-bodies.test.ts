import assert from 'node:assert/strict';
import { type ClientRequest, request } from 'node:http';
import { after, before, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { until } from '../../../contracts/test/until.ts';
import { requestBodyBudgetBounds } from '../../src/http/body/request-body-budget.ts';
import { fullCollection } from '../../src/platform/heap-trim.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';

/** Unfinished bodies: their share of memory, and their time limit. */

let app: TestApp;
let greedy: SignedIn;
let other: SignedIn;
before(async () => {
  app = await startTestApp();
  [greedy, other] = await Promise.all([app.signIn(), app.signIn()]);
});
after(() => app.stop());

type Begun = { outgoing: ClientRequest; answered: Promise<{ status: number; text: string } | undefined> };

/** A message whose last byte is missing. */
function begin(user: SignedIn, sent: Buffer, declared = sent.length + 1): Begun {
  const outgoing = request(`${app.url}/api/chat/start`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': declared, cookie: user.cookie ?? '' },
  });
  const answered = new Promise<{ status: number; text: string } | undefined>((resolve) => {
    outgoing.on('error', () => resolve(undefined));
    outgoing.on('response', (incoming) => {
      let text = '';
      incoming
        .on('data', (chunk) => (text += chunk))
        .on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
    });
  });
  outgoing.write(sent);
  return { outgoing, answered };
}

const large = Buffer.alloc(limits.jsonBodyBytes - 1, ' ');
const shares = Math.floor(requestBodyBudgetBounds.senderBytes / limits.jsonBodyBytes);

test('one account’s unfinished bodies take only its share of the memory and block no other account', async () => {
  const atFirst = process.memoryUsage().arrayBuffers;
  const begun = Array.from({ length: 4 * shares }, () => begin(greedy, large));
  let toldToWait = 0;
  for (const { answered } of begun) {
    void answered.then((answer) => {
      if (answer?.status === 429 && /rate_limited/.test(answer.text)) toldToWait += 1;
    });
  }
  let highest = 0;
  const bound = 2 * requestBodyBudgetBounds.senderBytes;
  const look = (): number => {
    const held = () => process.memoryUsage().arrayBuffers - atFirst;
    // Buffers that nothing uses any more don't count.
    if (held() >= bound) fullCollection();
    highest = Math.max(highest, held());
    return highest;
  };
  await until('the share is used up', async () => look() > 0.9 * shares * large.length);
  // Another account's large body is read meanwhile, and small ones of the same account, too.
  assert.match((await finished(begin(other, large)))?.text ?? '', /Not valid JSON/);
  assert.equal((await greedy.call('POST /api/chats', {})).status, 201);
  await until('the others are refused', async () => look() > 0 && toldToWait === 3 * shares);
  assert.ok(highest < bound, `${highest} bytes`);
  for (const { outgoing } of begun) outgoing.destroy();
  assert.match((await finished(begin(greedy, large)))?.text ?? '', /Not valid JSON/, 'their room is free again');
});

test('gives up a body that does not arrive after its grace period', { timeout: 300_000 }, async () => {
  const { answered } = begin(other, Buffer.alloc(10, ' '), 100_000);
  const answer = await answered;
  assert.equal(answer?.status, 400);
  assert.match(answer?.text ?? '', /The request body arrived too slowly/);
});

/** Sends the last byte. */
function finished({ outgoing, answered }: Begun): Begun['answered'] {
  outgoing.end(' ');
  return answered;
}
