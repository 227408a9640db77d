import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { startFakeProvider } from '../../fakes/provider/provider.ts';
import { chunk, say, stream } from '../../fakes/provider/provider-scripts.ts';

const ask = (url: string, model: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], stream: true }),
    signal: signal ?? null,
  });

test('scripts precede the behavior of the model id, and requests are recorded', async () => {
  const provider = await startFakeProvider();
  try {
    provider.enqueue('echo', stream([...say('Scripted.'), chunk({}, 'stop')]));
    assert.match(await (await ask(provider.url, 'echo')).text(), /Scripted/);
    assert.match(await (await ask(provider.url, 'echo')).text(), /"content":"Hi".*\[DONE\]/s);
    assert.equal((await ask(provider.url, 'unknown')).status, 404);
    const models = await (await fetch(`${provider.url}/models`)).text();
    assert.ok(models.includes('"words-500@50"'));
    assert.deepEqual(
      provider.requests.map((request) => request.path),
      ['/v1/chat/completions', '/v1/chat/completions', '/v1/chat/completions', '/v1/models'],
    );
    assert.equal(await provider.requests[0]?.closed, 'complete');
  } finally {
    await provider.close();
  }
});

test('a script for the next request is used neither for a title nor for another model', async () => {
  const provider = await startFakeProvider();
  const askFor = async (content: string): Promise<string> => {
    const messages = [
      { role: 'system', content },
      { role: 'user', content: 'Hi' },
    ];
    const body = JSON.stringify({ model: 'echo', messages, stream: true });
    return (await fetch(`${provider.url}/chat/completions`, { method: 'POST', body })).text();
  };
  try {
    provider.enqueue('echo', stream([...say('Scripted.'), chunk({}, 'stop')]));
    assert.doesNotMatch(await askFor('Name this conversation: a title.'), /Scripted/);
    assert.doesNotMatch(await (await ask(provider.url, 'words-3')).text(), /Scripted/);
    assert.match(await askFor('Be brief.'), /Scripted/);
  } finally {
    await provider.close();
  }
});

test('answers can be held, and disconnected clients are noticed', async () => {
  const provider = await startFakeProvider();
  try {
    provider.hold();
    const controller = new AbortController();
    const asked = ask(provider.url, 'hang-5', controller.signal);
    const request = await provider.waitForRequest(0);
    const body = (await asked).body?.getReader();
    provider.release();
    assert.ok((await body?.read())?.value?.length);
    controller.abort();
    assert.equal(await request.closed, 'aborted');
    assert.ok(request.aborted && (request.closedAt ?? 0) >= request.receivedAt);
  } finally {
    await provider.close();
  }
});

test('runs as a process that prints its URL', async () => {
  const child = spawn(process.execPath, [`${import.meta.dirname}/../../fakes/provider/provider.ts`, '--port', '0']);
  try {
    const [line] = await once(child.stdout, 'data');
    const response = await ask(String(line).trim(), 'words-3');
    assert.match(await response.text(), /word0.*word1.*word2.*\[DONE\]/s);
  } finally {
    child.kill();
    await once(child, 'exit');
  }
});
