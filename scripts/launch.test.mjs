import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';

/** `npm start` as people type it, in a folder with our scripts and a server of a few lines. */

const root = dirname(import.meta.dirname);
const folders = [];
const children = new Set();
after(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const server = `
process.on('SIGTERM', () => process.exit(7));
process.on('SIGINT', () => process.exit(8));
console.log(JSON.stringify({ pid: process.pid, args: process.argv.slice(2) }));
setInterval(() => undefined, 1_000);
`;

function project() {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-launch-'));
  folders.push(folder);
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  cpSync(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true });
  mkdirSync(join(folder, 'dist/server'), { recursive: true });
  writeFileSync(join(folder, 'dist/.inputs'), 'built');
  writeFileSync(join(folder, 'dist/server/main.mjs'), server);
  return folder;
}

function withNode(folder) {
  mkdirSync(join(folder, 'node_modules/node/bin'), { recursive: true });
  symlinkSync(process.execPath, join(folder, 'node_modules/node/bin/node'));
  return folder;
}

function start(cwd, command, args, env = {}) {
  const { npm_execpath, ...rest } = process.env;
  const child = spawn(command, args, { cwd, env: { ...rest, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].on('data', (data) => {
      output[name] += data;
    });
  }
  const ended = new Promise((resolve) => {
    child.on('close', (code) => {
      children.delete(child);
      resolve(code);
    });
  });
  return { child, output, ended };
}

async function told({ child, output }) {
  for (;;) {
    const line = /^\{.*\}$/m.exec(output.stdout)?.[0];
    if (line !== undefined) return JSON.parse(line);
    assert.equal(child.exitCode, null, output.stderr);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function childrenOf(pid) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return (
          Number(
            readFileSync(`/proc/${name}/stat`, 'utf8')
              .replace(/^.*\) . /s, '')
              .split(' ')[0],
          ) === pid
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

test('leaves no other process beside the server', { skip: process.platform !== 'linux' }, async () => {
  const npm = start(withNode(project()), 'npm', ['start', '--', '--more']);
  const { pid, args } = await told(npm);
  assert.deepEqual(childrenOf(npm.child.pid), [pid]);
  assert.deepEqual(args, ['--welcome', '--more']);
  process.kill(pid, 'SIGKILL');
  await npm.ended;
});

test('forwards SIGTERM through npm, and ends with the code of the server', async () => {
  const npm = start(withNode(project()), 'npm', ['start']);
  const { pid } = await told(npm);
  npm.child.kill('SIGTERM');
  const code = await npm.ended;
  assert.ok(code === 7 || code === 143, String(code));
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('ends with the code of a failure before the server', async () => {
  const folder = withNode(project());
  writeFileSync(join(folder, 'package-lock.json'), '{}');
  const failing = join(folder, 'npm-cli.cjs');
  writeFileSync(failing, 'process.stderr.write("no such package\\n"); process.exit(3);');
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const shell = start(folder, 'sh', ['-c', scripts.start], { npm_execpath: failing });
  assert.equal(await shell.ended, 1);
  assert.match(shell.output.stderr, /no such package\n(.*\n)*.*npm ci failed \(exit code 3\); its message is above/);
});

// Replaces npm: records its arguments and creates the files of an installation.
const npmStub = `
const { appendFileSync } = require('node:fs');
appendFileSync('asked', process.argv.slice(2).join(' ') + '\\n');
console.log('added 554 packages');
`;

test('installs only product packages for a start, without output of npm, and adds the others for tests', async () => {
  const folder = withNode(project());
  writeFileSync(join(folder, 'package-lock.json'), '{}');
  const stub = join(folder, 'npm-cli.cjs');
  writeFileSync(stub, npmStub);
  writeFileSync(join(folder, 'scripts/check.mjs'), 'process.exit(0);');
  const asked = () => readFileSync(join(folder, 'asked'), 'utf8').trimEnd().split('\n');
  const launch = (name) => start(folder, process.execPath, ['scripts/launch.mjs', name], { npm_execpath: stub });

  const first = launch('prepare');
  assert.equal(await first.ended, 0, first.output.stderr);
  assert.equal(first.output.stdout, `${join(folder, 'node_modules/node/bin/node')}\n`);
  assert.match(asked()[0], /^ci --omit=dev .*--loglevel=error/);
  await launch('prepare').ended;
  assert.equal(asked().length, 1, 'a second start installs nothing');

  assert.equal(await launch('check').ended, 0);
  assert.match(asked()[1], /^install --include=dev --no-save/);
  await launch('prepare').ended;
  assert.equal(await launch('check').ended, 0);
  assert.equal(asked().length, 2, 'all is there');

  writeFileSync(join(folder, 'package-lock.json'), '{ }');
  assert.equal(await launch('check').ended, 0);
  assert.match(asked()[2], /^ci --include=dev/);
});
