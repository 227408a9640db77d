import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { DockerLab, newId, type Started } from './docker-lab.ts';

/**
 * Cases of path-vectors.json that name a path, against the daemon in a container; the writable place outside its home
 * is /tmp.
 */

type Vector = {
  id: string;
  target?: string;
  op: string;
  path: string;
  verdict: string;
  why: string;
  wire?: string;
  note?: string;
};
const source = new URL('../../vectors/path-vectors.json', import.meta.url);
const vectors = (JSON.parse(readFileSync(source, 'utf8')) as Vector[]).filter(
  ({ target, op }) => target === 'workspace' && ['read', 'list', 'write'].includes(op),
);
const canary = 'TOP-SECRET-CANARY-7f3a';
const home = '/home/user';

let lab: DockerLab;
let one: Started;
before(async () => {
  lab = await DockerLab.open();
  one = await lab.start(newId());
  const { exitCode, stderr } = await one.run(`node -e "$(cat <<'END'\n${layOut()}\nEND\n)"`);
  assert.equal(exitCode, 0, stderr);
});
after(() => lab.close());

/**
 * The fixture of P000, as a program that runs inside: links that lead out, unusual names, entries that are not files.
 */
function layOut(): string {
  const odd = vectors.filter(({ op, why }) => op === 'read' && why.startsWith('odd but legal')).map(({ path }) => path);
  const links: Record<string, string> = {
    'leaf-rel': '../../tmp/outside/secret.txt',
    'leaf-abs': '/tmp/outside/secret.txt',
    mid: '../../tmp/outside',
    root: '/',
    'link-to-link': 'mid',
    'dotdot-target': `${'../'.repeat(40)}etc/passwd`,
    passwd: '/etc/passwd',
    environ: '/proc/self/environ',
    proccwd: '/proc/self/cwd',
    fd0: '/proc/self/fd/0',
    self: 'self',
    'ok-rel': 'artifacts/ok.txt',
    'ok-abs': `${home}/artifacts/ok.txt`,
    'via-parent': '../user/artifacts/ok.txt',
    null: '/dev/null',
    zerodev: '/dev/zero',
    'dangling-out': '/tmp/outside/created',
    loop1: 'loop2',
    loop2: 'loop1',
    chain5: 'chain4',
    chain4: 'chain3',
    chain3: 'chain2',
    chain2: 'chain1',
    chain1: 'artifacts/sub/f.txt',
  };
  const files = ['artifacts/ok.txt', 'artifacts/sub/f.txt', 'noperm', 'original', ...odd];
  return `
    const fs = require('fs');
    process.chdir('${home}');
    for (const path of ['artifacts/sub', 'ok-dir', '/tmp/outside']) fs.mkdirSync(path, { recursive: true });
    fs.writeFileSync('/tmp/outside/secret.txt', '${canary}');
    for (const name of ${JSON.stringify(files)}) fs.writeFileSync(name, 'INSIDE ' + name);
    fs.writeFileSync('cafe\\u0301.txt', 'INSIDE nfd');
    fs.writeFileSync('caf\\u00e9.txt', 'INSIDE nfc');
    fs.chmodSync('noperm', 0);
    fs.linkSync('original', 'hardlink');
    for (const [name, target] of Object.entries(${JSON.stringify(links)})) fs.symlinkSync(target, name);
    require('child_process').execFileSync('mkfifo', ['fifo']);
  `;
}

test('the vectors are not empty', () => assert.ok(vectors.length > 80, String(vectors.length)));

for (const vector of vectors) {
  test(`${vector.id} ${vector.op} ${JSON.stringify(vector.path.slice(0, 40))}: ${vector.why}`, async () => {
    const { status, text } = await ask(vector);
    assert.ok(!text.includes(canary) && !text.includes('root:x:'), 'nothing from outside');
    if (vector.verdict === 'allow') assert.ok(status === 200 || status === 201, `${status} ${text}`);
    else {
      assert.ok((vector.verdict === 'not_found' ? [404, 400] : [400, 404, 409]).includes(status), `${status} ${text}`);
      assert.ok(!/\/proc\/|\/fd\/|ENO|EACC|errno/.test(text), `says nothing of the machine: ${text}`);
    }
  });
}

test('nothing was written outside', async () => {
  const { stdout } = await one.run('cat /tmp/outside/secret.txt; ls /tmp/outside');
  assert.equal(stdout, `${canary}secret.txt\n`);
});

async function ask(vector: Vector): Promise<{ status: number; text: string }> {
  const path = vector.path.replace('$HOME_ABS', home);
  const query = vector.note?.includes('lone surrogate') ? '%ED%A0%80' : (vector.wire ?? encodeURIComponent(path));
  const place = vector.op === 'list' ? '/v1/files' : '/v1/files/content';
  const { status, body } =
    vector.op === 'write'
      ? await one.daemon.request(`${place}?path=${query}&onConflict=replace`, { method: 'PUT', body: 'written' })
      : await one.daemon.request(`${place}?path=${query}`);
  return { status, text: Buffer.concat(await body.toArray()).toString('utf8') };
}
