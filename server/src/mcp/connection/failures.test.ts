import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProtocolError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { isLostSession, serverWords } from './failures.ts';
import { RefusedAccess } from './guarded-transport.ts';
import { noAnswer } from './message-rules.ts';

const httpError = (status: number, text: string) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'Error POSTing', { status, statusText: '', text });
const rpc = (error: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, error });

test("passes on a server's own words, whatever the code and status of its error", () => {
  assert.equal(serverWords(new ProtocolError(-32602, 'No such row')), 'No such row');
  assert.equal(serverWords(new ProtocolError(500, 'Quota used up')), 'Quota used up');
  assert.equal(serverWords(new ProtocolError(404, 'Gone', { row: 7 })), 'Gone {"row":7}');
  assert.equal(serverWords(new ProtocolError(1, 'Bad', 'because')), 'Bad because');
  assert.equal(
    serverWords(httpError(422, rpc({ code: 7, message: 'Bad date', data: { field: 'day' } }))),
    'Bad date {"field":"day"}',
  );
  assert.equal(serverWords(httpError(400, rpc({ code: -32602, message: 'Bad date' }))), 'Bad date');
  assert.equal(serverWords(new ProtocolError(-1, 'x'.repeat(10_000)))?.length, 500);
  for (const text of ['<html>Bad Gateway</html>', '{"message":"no"}', rpc({ code: 1 }), 'null', '']) {
    assert.equal(serverWords(httpError(502, text)), undefined, text);
  }
  assert.equal(serverWords(new ProtocolError(noAnswer, '')), undefined);
  assert.equal(serverWords(new Error('network')), undefined);
});

test('takes a refusal of the session for a lost one, and no error of the protocol', () => {
  for (const status of [400, 401, 404, 409]) assert.equal(isLostSession(httpError(status, '')), true, String(status));
  for (const status of [403, 422, 500]) assert.equal(isLostSession(httpError(status, '')), false, String(status));
  assert.equal(isLostSession(new ProtocolError(404, 'Gone')), false);
  assert.equal(isLostSession(new RefusedAccess(401, undefined)), true);
  assert.equal(isLostSession(new RefusedAccess(401, {})), false, 'signing in would help');
});
