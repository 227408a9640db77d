import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { createChat, postChat, submission } from '../faults/conversation.ts';
import { addModels, freePort, type Json, pause, readEvents, setUp, startProvider } from '../product.ts';

/** Main steps of an installed release; the test of each installation method passes the commands of its programs. */

const root = join(import.meta.dirname, '../..');
export const version: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
/** As in the names of files: Debian's word. */
export const arch = process.arch === 'x64' ? 'amd64' : process.arch;

export type Installed = {
  /** The serving command; its environment has only these variables and `settings`. */
  serve: readonly string[];
  /** The command before an operator's command. */
  admin: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Settings are given in the environment, or written where the installation reads them. */
  configure?(settings: Readonly<Record<string, string>>): void;
  /** As the programs see them. */
  dataDir: string;
  backups: string;
};

const settings = { ALLOW_PRIVATE_EGRESS: 'true', ALLOW_INSECURE_HTTP: 'true', MODEL_TITLES: 'false' };
const children = new Set<ChildProcess>();
after(() => {
  for (const child of children) child.kill('SIGTERM');
});

/** Starts, sets up, answers, is examined, is backed up, stops. Logs how long the start took. */
export async function doMainJob(installed: Installed, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const provider = await startProvider();
  const port = await freePort();
  const given = { ...settings, PORT: String(port), DATA_DIR: installed.dataDir, WORKSPACE_MODE: 'disabled', ...more };
  installed.configure?.(given);
  const env = { ...installed.env, ...(installed.configure === undefined ? given : {}) };
  const service = serve(installed, env);
  const url = `http://127.0.0.1:${port}`;
  const seconds = await ready(url, service);
  console.log(`${installed.serve.join(' ')}: ready in ${seconds.toFixed(1)} s`);
  await workAt(url, provider.url);

  const admin = (...args: string[]) => callAdmin(installed, env, args);
  assert.equal((await admin('--version')).trim(), version);
  const { checks } = JSON.parse(await admin('doctor', '--json'));
  assert.deepEqual(
    checks.filter(({ state }: Json) => state === 'failed'),
    [],
  );
  const file = join(installed.backups, 'first.tar');
  await admin('backup', '--to', file);
  await admin('verify', file);
  process.kill(nodeBelow(service.child.pid ?? 0), 'SIGTERM');
  assert.equal(await service.ended, 0, service.output());
  provider.kill('SIGKILL');
}

/** Work of a person at a new service. */
export async function workAt(url: string, providerUrl: string): Promise<void> {
  const live: Json = await (await fetch(`${url}/api/live`)).json();
  assert.deepEqual(live, { ok: true, version });
  // Files that are read on demand must be there too.
  for (const path of [
    '/',
    '/third-party-notices.txt',
    '/docs',
    '/docs/errors',
    '/api/openapi.json',
    '/api/docs/swagger-ui.css',
  ]) {
    assert.equal((await fetch(url + path)).status, 200, path);
  }
  const caller = await setUp(url);
  await addModels(caller, providerUrl, ['words-20']);
  const chatId = await createChat(caller);
  await caller.must('POST', '/api/chat/start', submission(chatId, 'hello'));
  const { text, done } = await readEvents(await postChat(caller, { chatId, messageId: 'hello' }));
  assert.ok(done);
  assert.notEqual(text, '');
}

type Service = { child: ChildProcess; ended: Promise<number | null>; output(): string };

function serve({ serve: [file = '', ...args] }: Installed, env: Readonly<Record<string, string>>): Service {
  const child = spawn(file, args, { cwd: tmpdir(), env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      output += data.toString();
    });
  }
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      output += String(error);
    });
    child.once('close', (code) => {
      children.delete(child);
      resolve(code);
    });
  });
  return { child, ended, output: () => output };
}

async function ready(url: string, { child, output }: Service): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const ok = await fetch(`${url}/api/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return (performance.now() - startedAt) / 1_000;
    if (child.exitCode !== null || child.pid === undefined) throw new Error(`It ended:\n${output()}`);
    await pause(20);
  }
}

/** Process id of the server itself: a wrapper for a sandbox or another user may not forward signals. */
function nodeBelow(pid: number): number {
  const parentOf = (other: string) => {
    try {
      return Number(
        readFileSync(`/proc/${other}/stat`, 'utf8')
          .replace(/^.*\) . /s, '')
          .split(' ')[0],
      );
    } catch {
      return -1;
    }
  };
  for (let at = pid; ; ) {
    if (readlinkSync(`/proc/${at}/exe`).endsWith('/node')) return at;
    const child = readdirSync('/proc').find((name) => /^\d+$/.test(name) && parentOf(name) === at);
    if (child === undefined) throw new Error('The server is not there');
    at = Number(child);
  }
}

function callAdmin(
  { admin: [file = '', ...before] }: Installed,
  env: Readonly<Record<string, string>>,
  args: string[],
) {
  return command(file, [...before, ...args], { env });
}

/** Runs a program to its end; an error contains its output. */
export function command(
  file: string,
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; cwd?: string } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { cwd: tmpdir(), maxBuffer: 16 * 1024 * 1024, ...options }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${[file, ...args].join(' ')} failed:\n${stdout}${stderr}${error.message}`));
    });
  });
}

/** The folder with the files of a release for this machine, made now unless scripts/test.mjs has made it. */
export async function releaseFolder(scratch: string): Promise<string> {
  if (process.env.HOMEPORT_RELEASE) return process.env.HOMEPORT_RELEASE;
  const out = join(scratch, 'release');
  await makeRelease(root, out);
  return out;
}

export async function makeRelease(
  tree: string,
  out: string,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { PATH = '', HOME = '', TMPDIR = tmpdir() } = process.env;
  const args = [join(tree, 'scripts/release.mjs'), '--arch', arch, '--out', out];
  await command(process.execPath, args, { cwd: tree, env: { PATH, HOME, TMPDIR, ...env } });
}

export function emptyFolder(parent: string, name: string): string {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  assert.deepEqual(readdirSync(folder), []);
  return folder;
}
