import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Frame } from '@homeport/contracts/chat/frames';
import { ApiError } from '@homeport/contracts/errors';
import { AnswerExtras } from './answer-extras.ts';

const picture = { mediaType: 'image/png', bytes: Buffer.from('x') } as const;

test('tells the person that a picture could not be stored, and why', async () => {
  const frames: Frame[] = [];
  const refuse = () => Promise.reject(new ApiError('storage_full', 'Not saved: no room.'));
  const extras = new AnswerExtras((frame) => void frames.push(frame), refuse);
  extras.picture(picture);
  await extras.stored();
  const message = 'A picture of this answer could not be stored. Not saved: no room.';
  assert.deepEqual(frames, [{ type: 'data-notice', data: { code: 'picture_not_stored', message } }]);
});

test('stores at most eight pictures of an answer', async () => {
  let stored = 0;
  const extras = new AnswerExtras(
    () => undefined,
    async () => ({ type: 'file', mediaType: 'image/png', url: `artifact://${stored++}` }),
  );
  for (let at = 0; at < 20; at++) extras.picture(picture);
  await extras.stored();
  assert.equal(stored, 8);
});

test('names each source once in an answer of several steps, with ids that differ', () => {
  const extras = new AnswerExtras(() => undefined, undefined);
  const ids = [
    extras.source({ kind: 'url', url: 'https://a.test', number: 1 }),
    extras.source({ kind: 'url', url: 'https://b.test/', number: 3 }),
    extras.source({ kind: 'url', url: 'https://a.test/' }),
    extras.source({ kind: 'url', url: 'https://c.test/', number: 1 }),
    extras.source({ kind: 'document', title: 'Plan', mediaType: 'text/plain' }),
  ].map((source) => source?.sourceId);
  assert.deepEqual(ids, ['1', '3', undefined, '2', '4']);
});
