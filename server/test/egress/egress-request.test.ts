import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiError } from '@homeport/contracts/errors';
import { createEgress, type Egress } from '../../src/egress/egress.ts';
import { type FailurePhase, type FailureReason, failureDetails } from '../../src/egress/failures.ts';
import type { EgressInit, EgressResponse } from '../../src/egress/http-client.ts';
import { makeCertificates } from '../fakes/certificates.ts';

const flags = { allowPrivateEgress: true, allowInsecureHttp: true };
const open = createEgress(flags);
const closers: (() => void)[] = [() => open.close()];
after(() => {
  for (const close of closers) close();
});

type Received = { method: string; url: string; headers: http.IncomingHttpHeaders; body: string };

async function listen(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.close();
    if (server instanceof http.Server || server instanceof https.Server) server.closeAllConnections();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

/** An HTTP server that records its requests. */
async function serve(answer: (response: http.ServerResponse, received: Received) => void) {
  const received: Received[] = [];
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const entry = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
    received.push(entry);
    answer(response, entry);
  });
  const port = await listen(server);
  return { origin: `http://127.0.0.1:${port}`, port, received, server };
}

/** A raw TCP server, for answers that no HTTP library would give. */
async function serveRaw(handle: (socket: net.Socket) => void): Promise<string> {
  const sockets = new Set<net.Socket>();
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('data', () => handle(socket));
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

function request(url: string, init: Partial<EgressInit> = {}, egress: Egress = open): Promise<EgressResponse> {
  return egress.request(url, { signal: new AbortController().signal, ...init });
}

async function requestText(url: string, init: Partial<EgressInit> = {}, egress: Egress = open): Promise<string> {
  return (await request(url, init, egress)).body.text(1024 * 1024);
}

async function assertFails(work: Promise<unknown>, reason: FailureReason, phase: FailurePhase): Promise<void> {
  await assert.rejects(work, (error) => {
    const { certificate: _, ...details } = failureDetails(error) ?? {};
    assert.deepEqual(details, { reason, phase }, String(error));
    assert.ok(
      error instanceof ApiError && error.cause === undefined && !/127\.0\.0\.1|test|secret/.test(error.message),
    );
    return true;
  });
}

/** A pause can use up the total time before the call has come that far: then it gets twice as much. */
async function assertTotalEnds(work: (totalTimeoutMs: number) => Promise<unknown>, phase: FailurePhase): Promise<void> {
  for (let totalTimeoutMs = 50; ; totalTimeoutMs *= 2) {
    const error = await work(totalTimeoutMs).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const details = failureDetails(error);
    const isEarly = details?.reason === 'timeout' && details.phase !== phase && totalTimeoutMs < 10_000;
    if (!isEarly) return assertFails(Promise.reject(error), 'timeout', phase);
  }
}

async function assertBlocked(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(
    error instanceof ApiError && error.code === 'blocked_destination' && error.details === undefined,
    String(error),
  );
  return error.message;
}

const secrets = {
  Authorization: 'Bearer secret',
  'X-Api-Key': 'secret',
  cookie: 'a=secret',
  'content-type': 'application/json',
};
const ways = {
  request: (url: string, init: Partial<EgressInit>) => requestText(url, init),
  fetch: async (url: string, init: Partial<EgressInit>) => (await open.fetch(url, init as RequestInit)).text(),
};

for (const [way, call] of Object.entries(ways)) {
  for (const status of [301, 302, 303, 307, 308]) {
    test(`${way}: a ${status} to another origin carries no secret`, async () => {
      const second = await serve((response) => response.end('second'));
      const first = await serve((response) => response.writeHead(status, { location: `${second.origin}/x` }).end());
      assert.equal(
        await call(first.origin, { headers: { ...secrets, accept: 'text/plain', 'user-agent': 'ours' } }),
        'second',
      );
      assert.equal(first.received[0]?.headers['x-api-key'], 'secret');
      const headers = second.received[0]?.headers ?? {};
      assert.ok(!JSON.stringify(headers).includes('secret'));
      assert.equal(headers.accept, 'text/plain');
      assert.equal(headers['user-agent'], 'ours');
      assert.equal(headers.host, `127.0.0.1:${second.port}`);
    });

    test(`${way}: a ${status} to another origin carries no body`, async () => {
      const second = await serve((response) => response.end('second'));
      const first = await serve((response) => response.writeHead(status, { location: second.origin }).end());
      const work = call(first.origin, { method: 'POST', body: 'the prompt', headers: secrets });
      if (status >= 307) {
        await assertFails(work, 'redirect', 'response');
        assert.equal(second.received.length, 0);
      } else {
        assert.equal(await work, 'second');
        assert.deepEqual(
          second.received.map(({ method, body }) => [method, body]),
          [['GET', '']],
        );
        assert.equal(second.received[0]?.headers['content-type'], undefined);
      }
    });
  }

  test(`${way}: a 307 within one origin repeats the same request`, async () => {
    const server = await serve((response, { url }) => {
      if (url === '/a') response.writeHead(307, { location: '/b' }).end();
      else response.end('done');
    });
    assert.equal(await call(`${server.origin}/a`, { method: 'POST', body: 'the prompt', headers: secrets }), 'done');
    const [, again] = server.received;
    assert.deepEqual([again?.method, again?.body, again?.headers['x-api-key']], ['POST', 'the prompt', 'secret']);
  });

  test(`${way}: the sixth redirect fails`, async () => {
    const server = await serve((response, { url }) => {
      const count = Number(url.slice(1));
      if (count === 5) response.end('five');
      else response.writeHead(302, { location: `/${count + 1}` }).end();
    });
    assert.equal(await call(`${server.origin}/0`, {}), 'five');
    await assertFails(call(`${server.origin}/-1`, {}), 'redirect', 'response');
  });

  test(`${way}: a compressed answer is refused unread`, async () => {
    const server = await serve((response) =>
      response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).write('x'.repeat(1000)),
    );
    await assertFails(call(server.origin, {}), 'encoded', 'response');
    assert.equal(server.received[0]?.headers['accept-encoding'], 'identity');
    const before = await serve((response) =>
      response.writeHead(302, { location: '/x', 'content-encoding': 'gzip' }).end(),
    );
    await assertFails(call(before.origin, {}), 'redirect', 'response');
  });

  test(`${way}: an abort rejects with its reason and reaches the other side`, async () => {
    const closed = Promise.withResolvers<void>();
    const controller = new AbortController();
    const server = await serve((response) => {
      response.on('close', () => closed.resolve());
      controller.abort(new Error('stopped by hand'));
    });
    await assert.rejects(call(server.origin, { signal: controller.signal }), /stopped by hand/);
    await closed.promise;
    await assert.rejects(call(server.origin, { signal: controller.signal }), /stopped by hand/);
    assert.equal(server.received.length, 1);
  });

  test(`${way}: an abort in the middle of the body rejects with its reason and reaches the other side`, async () => {
    const closed = Promise.withResolvers<void>();
    const server = await serve((response) => {
      response.on('close', () => closed.resolve());
      response.write('half');
    });
    const controller = new AbortController();
    const work = call(server.origin, { signal: controller.signal });
    while (server.received.length === 0) await nextTurn();
    controller.abort(new Error('stopped by hand'));
    await assert.rejects(work, /stopped by hand/);
    await closed.promise;
  });
}

test('framing headers of the caller are not sent', async () => {
  const server = await serve((response) => response.end('ok'));
  const headers = {
    Host: 'evil.test',
    'Content-Length': '1',
    'transfer-encoding': 'chunked',
    'Accept-Encoding': 'gzip',
  };
  await requestText(server.origin, { body: 'hello', headers });
  const [seen] = server.received;
  assert.deepEqual([seen?.body, seen?.headers.host], ['hello', `127.0.0.1:${server.port}`]);
  assert.equal(seen?.headers['transfer-encoding'], undefined);
});

test('refuses a header that HTTP forbids before any connection', async () => {
  const server = await serve((response) => response.end());
  await assert.rejects(request(server.origin, { headers: { 'x-a': 'b\r\nc: d' } }), { code: 'invalid_request' });
  assert.equal(server.received.length, 0);
});

test('a closed port is refused, and safe to retry', async () => {
  const { port, server } = await serve(() => {});
  server.close();
  await once(server, 'close');
  await assertFails(request(`http://127.0.0.1:${port}`), 'refused', 'connect');
});

test('reports connections that end before the answer differently from those that end within it', async () => {
  await assertFails(request(await serveRaw((socket) => socket.destroy())), 'reset', 'request');
  const half = await serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'));
  await assertFails(requestText(half), 'reset', 'response');
  const reset = await serveRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n', () => socket.resetAndDestroy());
  });
  await assertFails(requestText(reset), 'reset', 'response');
});

test('refuses an answer that is not HTTP', async () => {
  await assertFails(request(await serveRaw((socket) => socket.write('SSH-2.0-OpenSSH\r\n'))), 'protocol', 'request');
  const doubled = 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab';
  await assertFails(request(await serveRaw((socket) => socket.write(doubled))), 'protocol', 'request');
});

test('endless headers, one by one or as interim answers, stop at a limit', async () => {
  const flood = (line: string) => (socket: net.Socket) => {
    const write = () => {
      while (!socket.destroyed && socket.write(line.repeat(100)));
      if (!socket.destroyed) socket.once('drain', write);
    };
    socket.write('HTTP/1.1 200 OK\r\n');
    write();
  };
  await assertFails(request(await serveRaw(flood(`x-a: ${'y'.repeat(100)}\r\n`))), 'protocol', 'request');
  const interim = await serveRaw((socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5);
    socket.on('close', () => clearInterval(timer));
  });
  await assertFails(request(interim, { headersTimeoutMs: 100 }), 'timeout', 'request');
});

test('an endless body, even as a single line, stops at its limit', async () => {
  let sent = 0;
  const server = await serve((response) => {
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(65536))) sent += 65536;
      if (!response.destroyed) response.once('drain', write);
    };
    write();
  });
  await assertFails(requestText(server.origin, { maxResponseBytes: 1_000_000 }), 'too_large', 'response');
  const response = await request(server.origin);
  await assertFails(response.body.text(1_000_000), 'too_large', 'response');
  const iterated = async () => {
    for await (const chunk of (await request(server.origin, { maxResponseBytes: 1_000_000 })).body)
      assert.ok(chunk.length);
  };
  await assertFails(iterated(), 'too_large', 'response');
  assert.ok(sent < 100_000_000, `${sent} bytes were taken`);
});

test('silent and trickling answers time out', async () => {
  const silent = await serve(() => {});
  await assertFails(request(silent.origin, { headersTimeoutMs: 50 }), 'timeout', 'request');
  await assertTotalEnds((totalTimeoutMs) => request(silent.origin, { totalTimeoutMs }), 'request');
  const stuck = await serve((response) => response.write('x'));
  await assertFails(requestText(stuck.origin, { idleTimeoutMs: 50 }), 'timeout', 'response');
  await assertFails(
    requestText(stuck.origin, { firstByteTimeoutMs: 60_000, idleTimeoutMs: 50 }),
    'timeout',
    'response',
  );
  const headOnly = await serve((response) => response.flushHeaders());
  const first = { firstByteTimeoutMs: 50, idleTimeoutMs: 60_000 };
  await assertFails(requestText(headOnly.origin, first), 'timeout', 'response');
  const late = await serve((response) => {
    response.flushHeaders();
    setTimeout(() => response.end('late'), 100);
  });
  const longer = await requestText(late.origin, { firstByteTimeoutMs: 60_000, idleTimeoutMs: 20 });
  assert.equal(longer, 'late', 'the first byte has a time of its own');
  const trickle = await serve((response) => {
    const timer = setInterval(() => response.write('x'), 10);
    response.on('close', () => clearInterval(timer));
  });
  const endless = { idleTimeoutMs: 60_000 };
  await assertTotalEnds((totalTimeoutMs) => requestText(trickle.origin, { ...endless, totalTimeoutMs }), 'response');
});

test('a name server or handshake that never answers times out', async () => {
  const hanging = createEgress({ ...flags, lookup: () => new Promise(() => {}) });
  await assertFails(request('http://slow.test/', { connectTimeoutMs: 50 }, hanging), 'timeout', 'connect');
  const mute = await listen(net.createServer((socket) => closers.push(() => socket.destroy())));
  await assertFails(request(`https://127.0.0.1:${mute}`, { connectTimeoutMs: 50 }), 'timeout', 'connect');
  await hanging.close();
});

test('unknown names, names without addresses and private ones get answers without details', async () => {
  const answers = new Map([
    ['db.internal', ['10.0.0.5']],
    ['empty.test', []],
  ]);
  const lookup = async (name: string) => {
    const known = answers.get(name);
    if (known === undefined) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
    return known;
  };
  const closed = createEgress({ allowPrivateEgress: false, allowInsecureHttp: false, lookup });
  await assertFails(request('https://unknown.test/', {}, closed), 'dns', 'connect');
  await assertFails(request('https://empty.test/', {}, closed), 'dns', 'connect');
  const messages = [
    'https://db.internal',
    'https://nothing.internal',
    'https://ollama',
    'https://10.0.0.5',
    'http://x.test',
    'file:///x',
  ];
  const errors = await Promise.all(messages.map((url) => assertBlocked(request(url, {}, closed))));
  assert.equal(new Set(errors).size, 1);
  closed.close();
});

test('accepts TLS certificates of the configured authority, and refuses unknown authorities and wrong names', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-tls-'));
  const { ca, key, cert } = makeCertificates(folder, ['good.test']);
  rmSync(folder, { recursive: true });
  const port = await listen(https.createServer({ key, cert }, (_request, response) => response.end('hello')));
  const lookup = async () => ['127.0.0.1'];
  const stranger = createEgress({ ...flags, lookup });
  const trusting = createEgress({ ...flags, lookup, tlsCa: [ca] });
  await assertFails(request(`https://good.test:${port}`, {}, stranger), 'tls', 'connect');
  await assertFails(request(`https://bad.test:${port}`, {}, trusting), 'tls', 'connect');
  await assertFails(request(`https://127.0.0.1:${port}`, {}, trusting), 'tls', 'connect');
  const problemAt = async (url: string, egress: typeof stranger) =>
    failureDetails(await request(url, {}, egress).catch((error: unknown) => error))?.certificate;
  assert.equal(await problemAt(`https://good.test:${port}`, stranger), 'untrusted');
  assert.equal(await problemAt(`https://bad.test:${port}`, trusting), 'host');
  const withoutTls = await listen(http.createServer((_request, response) => response.end('hello')));
  assert.equal(await problemAt(`https://good.test:${withoutTls}`, trusting), 'not_tls');
  assert.equal(await requestText(`https://good.test:${port}`, {}, trusting), 'hello');
  assert.equal(await requestText(`https://good.test.:${port}`, {}, trusting), 'hello');
  await stranger.close();
  await trusting.close();
});

test('reuses a connection after its body was read, and closes it otherwise', async () => {
  const egress = createEgress(flags);
  const server = await serve((response) => response.end('x'.repeat(200_000)));
  let connections = 0;
  server.server.on('connection', () => {
    connections += 1;
  });
  for (let round = 0; round < 3; round += 1) await requestText(server.origin, {}, egress);
  assert.equal(connections, 1);
  (await request(server.origin, {}, egress)).body.destroy();
  await requestText(server.origin, {}, egress);
  assert.equal(connections, 2);
  egress.close();
});

test('both ways of reading return the same bytes, and leaving the loop ends the answer', async () => {
  const closed = Promise.withResolvers<void>();
  const text = Array.from({ length: 2000 }, (_, index) => `data: ${index} é漢🎈\n\n`);
  const server = await serve((response, { url }) => {
    response.on('close', () => closed.resolve());
    for (const line of text) response.write(line);
    if (url !== '/endless') response.end();
  });
  const pumped: Uint8Array[] = [];
  await (await request(server.origin)).body.pump((chunk) => pumped.push(chunk));
  const iterated: Uint8Array[] = [];
  for await (const chunk of (await request(server.origin)).body) iterated.push(chunk);
  assert.equal(Buffer.concat(pumped).toString(), text.join(''));
  assert.equal(Buffer.concat(iterated).toString(), text.join(''));
  for await (const chunk of (await request(`${server.origin}/endless`)).body) if (chunk.length > 0) break;
  await closed.promise;
});

test('rejects when the reader throws or reads twice', async () => {
  const server = await serve((response) => response.write('x'));
  const response = await request(server.origin);
  const broken = () => {
    throw new Error('parser');
  };
  await assert.rejects(response.body.pump(broken), /parser/);
  assert.throws(() => response.body.pump(broken), /read once/);
});

test('a slow reader slows the sender down instead of filling memory', async () => {
  let sent = 0;
  const stalled = Promise.withResolvers<void>();
  const server = await serve((response) => {
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(65536))) sent += 65536;
      if (!response.destroyed) response.once('drain', write);
      stalled.resolve();
    };
    write();
  });
  const chunks = (await request(server.origin)).body[Symbol.asyncIterator]();
  await chunks.next();
  await stalled.promise;
  let before = -1;
  for (let turns = 0; turns < 200 || before !== sent; turns += 1) {
    before = sent;
    await nextTurn();
  }
  assert.ok(sent < 32 * 1024 * 1024, `${sent} bytes were sent`);
  await chunks.return?.();
});
