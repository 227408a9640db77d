import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, paths, put } from '../artifacts/artifact-makers.ts';
import { type CommandLine, finish, makeCommandLine } from '../command-line.ts';
import { ProcessRuntime } from '../fakes/process-runtime.ts';

/** The `homeport` command with large files, interrupted, and against broken services. */

let app: TestApp;
let user: SignedIn;
let tool: CommandLine;
const runtime = new ProcessRuntime();
before(async () => {
  app = await startTestApp({ workspaceRuntime: runtime, config: { artifactMaxUploadBytes: 160 * 1024 * 1024 } });
  user = await app.signIn();
  tool = await makeCommandLine(app, runtime, user);
});
after(async () => {
  await tool.stop();
  await runtime.destroy();
  await app.stop();
});

/** Bytes of the largest memory that a process used. */
function peakMemory(child: ChildProcess): number {
  const status = existsSync(`/proc/${child.pid}/status`) ? readFileSync(`/proc/${child.pid}/status`, 'utf8') : '';
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

/** A file of 150 MB held in memory takes more; the garbage of streaming it can reach 80 MB on a busy machine. */
const heldBytes = 120e6;

test('streams 150 MB through stdin and stdout without buffering them', {
  skip: process.platform !== 'linux',
}, async () => {
  const chatId = await createChat(user);
  const env = { HOMEPORT_SCOPE: `chat:${chatId}` };
  const chunk = randomBytes(1024 * 1024);
  const size = 150 * chunk.length;
  const up = tool.start(['artifacts', 'put', '-', 'big.bin', '--json'], { env });
  let [first, last] = [0, 0];
  const bytes = async function* () {
    for (let sent = 0; sent < size; sent += chunk.length) {
      yield chunk;
      last = peakMemory(up) || last;
      first ||= last;
    }
  };
  assert.ok(up.stdin);
  const sending = pipeline(bytes, up.stdin).catch(() => undefined);
  const { code, out, error } = await finish(up);
  await sending;
  assert.deepEqual([code, error], [0, '']);
  assert.equal(JSON.parse(out).size, size);
  assert.ok(last - first < heldBytes, `upload: ${first} to ${last}`);

  const down = tool.start(['artifacts', 'get', 'big.bin', '-'], { env });
  const ended = once(down, 'close');
  const hash = createHash('sha256');
  let received = 0;
  [first, last] = [0, 0];
  for await (const bytes of down.stdout ?? []) {
    hash.update(bytes);
    received += bytes.length;
    last = peakMemory(down) || last;
    first ||= last;
  }
  assert.deepEqual([await ended, received], [[0, null], size]);
  assert.equal(hash.digest('hex'), JSON.parse(out).sha256);
  assert.ok(last - first < heldBytes, `download: ${first} to ${last}`);
});

test('a reader that disconnects ends a download without an error', async () => {
  const chatId = await createChat(user);
  await put(user, { chatId }, 'long', 'x'.repeat(20_000_000));
  const child = tool.start(['artifacts', 'get', 'long', '-', '--chat', chatId]);
  child.stdout?.once('data', () => child.stdout?.destroy());
  let error = '';
  child.stderr?.on('data', (chunk) => {
    error += chunk;
  });
  assert.deepEqual(await once(child, 'close'), [141, null]);
  assert.equal(error, '');
});

test('an incomplete download is a failure and leaves nothing', async () => {
  const cwd = await tool.newFolder();
  const text = 'x'.repeat(100_000);
  const tag = `"${createHash('sha256').update(text).digest('hex')}"`;
  const breaking: [string, RequestListener][] = [
    [
      'cut within its length',
      (_incoming, outgoing) => {
        outgoing.writeHead(200, { 'content-length': text.length, etag: tag });
        outgoing.write(text.slice(1), () => outgoing.destroy());
      },
    ],
    [
      'cut between chunks',
      (_incoming, outgoing) => {
        outgoing.writeHead(200, { etag: tag });
        outgoing.write(text.slice(1), () => outgoing.destroy());
      },
    ],
    ['ended early', (_incoming, outgoing) => outgoing.writeHead(200, { etag: tag }).end(text.slice(1))],
    ['other bytes', (_incoming, outgoing) => outgoing.writeHead(200, { etag: tag }).end(text.replace('x', 'y'))],
  ];
  for (const [name, listener] of breaking) {
    const env = { HOMEPORT_URL: await tool.serve(listener), HOMEPORT_SCOPE: 'chat:x' };
    await writeFile(join(cwd, 'kept'), 'as it was');
    for (const file of ['new', 'kept']) {
      const { code, out, error } = await tool.run(['artifacts', 'get', 'a', '-o', file], { env, cwd });
      assert.deepEqual([code, out], [5, ''], `${name}: ${error}`);
    }
    assert.deepEqual([readdirSync(cwd), readFileSync(join(cwd, 'kept'), 'utf8')], [['kept'], 'as it was'], name);
    assert.equal((await tool.run(['artifacts', 'get', 'a', '-'], { env, cwd })).code, 5, name);
  }
});

test('Ctrl-C leaves no partial file', async () => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const url = await tool.serve((_incoming, outgoing) => {
      outgoing.writeHead(200, { 'content-length': 1_000_000 });
      outgoing.write('x'.repeat(500_000));
    });
    const cwd = await tool.newFolder();
    const child = tool.start(['artifacts', 'get', 'a', '-o', 'a'], {
      env: { HOMEPORT_URL: url, HOMEPORT_SCOPE: 'chat:x' },
      cwd,
    });
    const ended = finish(child);
    await until(async () => readdirSync(cwd).length === 1);
    assert.match(readdirSync(cwd)[0] ?? '', /^\.a\.[0-9a-f]+\.part$/);
    child.kill(signal);
    assert.deepEqual([(await ended).code, readdirSync(cwd)], [code, []]);
  }
  const chatId = await createChat(user);
  const up = tool.start(['artifacts', 'put', '-', 'a', '--chat', chatId]);
  const ended = finish(up);
  up.stdin?.on('error', () => undefined).write('x'.repeat(200_000));
  const incoming = join(app.service.deps.config.artifactStore ?? '', 'incoming');
  await until(async () => existsSync(incoming) && readdirSync(incoming).length > 0);
  up.kill('SIGINT');
  assert.equal((await ended).code, 130);
  await until(async () => readdirSync(incoming).length === 0);
  assert.deepEqual(await paths(user, { chatId }), []);
});

test('reports an address that is not a Homeport service in plain words', async () => {
  const odd: [string, number, RequestListener][] = [
    ['a page', 1, (_incoming, outgoing) => outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['another shape', 1, (_incoming, outgoing) => outgoing.end('{"artifacts":[{"id":1}]}')],
    ['null', 1, (_incoming, outgoing) => outgoing.end('null')],
    ['a redirect', 1, (_incoming, outgoing) => outgoing.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['an error page', 1, (_incoming, outgoing) => outgoing.writeHead(500).end('<h1>nginx</h1>')],
    ['a gateway', 5, (_incoming, outgoing) => outgoing.writeHead(502).end('<h1>nginx</h1>')],
    [
      'an endless error',
      3,
      (_incoming, outgoing) => {
        outgoing.writeHead(404);
        const more = (): unknown => outgoing.write('x'.repeat(65_536), () => outgoing.destroyed || more());
        more();
      },
    ],
    ['a hang-up', 5, (incoming) => incoming.socket.destroy()],
  ];
  for (const [name, code, listener] of odd) {
    const env = { HOMEPORT_URL: await tool.serve(listener), HOMEPORT_SCOPE: 'chat:x' };
    const result = await tool.run(['artifacts', 'ls'], { env });
    assert.deepEqual([result.code, result.out], [code, ''], `${name}: ${result.error}`);
    assert.match(result.error, /^homeport: The (?:control plane|connection)/, name);
    assert.doesNotMatch(result.error, /nginx|html|at .*\.ts/, name);
  }
});

test('reports a refusal while the upload is still in progress', async () => {
  const child = tool.start(['artifacts', 'put', '-', 'a', '--chat', randomUUID()]);
  const ended = finish(child);
  child.stdin?.on('error', () => undefined);
  const chunk = Buffer.alloc(65_536);
  const feeding = setInterval(() => child.stdin?.write(chunk), 5);
  const { code, error } = await ended;
  clearInterval(feeding);
  assert.deepEqual([code, /Conversation not found/.test(error)], [3, true], error);
});

test('the token is in no argument and no answer', async () => {
  let seen: string | undefined;
  const url = await tool.serve((incoming, outgoing) => {
    seen = incoming.headers.authorization;
    outgoing.writeHead(401, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify({ error: { code: 'unauthorized', message: `No: ${'\u001b'}[2J` } }));
  });
  const { code, error } = await tool.run(['conversations'], { env: { HOMEPORT_URL: url } });
  const token = readFileSync(tool.tokenFile, 'utf8').trim();
  assert.deepEqual([code, seen], [4, `Bearer ${token}`]);
  assert.ok(!error.includes(token) && !error.includes('\u001b'));
});
