import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { skillText, type ZipPart, zipOf } from '../../test/assistants/skill-makers.ts';
import { readSkillPackage } from './skill-package.ts';

const main: ZipPart = { name: 'deploy/SKILL.md', content: skillText('deploy') };
const read = (...parts: ZipPart[]) => readSkillPackage(zipOf(...parts));
const refuses = (reading: Promise<unknown>, words: RegExp) =>
  assert.rejects(reading, (error: Error & { code: string }) => {
    assert.equal(error.code, 'invalid_request');
    assert.match(error.message, words);
    return true;
  });

test('reads the same skill from a named folder, an unnamed one, and a lone SKILL.md', async () => {
  const script = { name: 'deploy/scripts/run.sh', content: '#!/bin/sh\n' };
  const named = await read(
    script,
    main,
    { name: 'deploy/', content: '' },
    { name: '__MACOSX/deploy/._x', content: 'x' },
  );
  const bare = await read({ ...main, name: 'SKILL.md' }, { ...script, name: 'scripts/run.sh' });
  assert.deepEqual([named.name, named.description], ['deploy', 'Makes deploy things.']);
  assert.deepEqual(
    named.files.map(({ path }) => path),
    ['SKILL.md', 'scripts/run.sh'],
  );
  assert.equal(named.fingerprint, bare.fingerprint);
  const alone = await readSkillPackage(Buffer.from(skillText('deploy')));
  assert.equal(alone.fingerprint, (await read(main)).fingerprint);
  assert.notEqual(alone.fingerprint, named.fingerprint);
});

test('computes the fingerprint from every name and every byte', async () => {
  const { fingerprint } = await read(main, { name: 'deploy/a.txt', content: 'x' });
  for (const other of [
    { name: 'deploy/a.txt', content: 'y' },
    { name: 'deploy/b.txt', content: 'x' },
    { name: 'deploy/a/a.txt', content: 'x' },
  ]) {
    assert.notEqual((await read(main, other)).fingerprint, fingerprint);
  }
});

test('rejects packages without a valid skill, with the reason', async () => {
  await refuses(read({ name: 'deploy/readme.md', content: 'x' }), /no SKILL\.md/);
  await refuses(
    read({ name: 'one/SKILL.md', content: skillText('one') }, { name: 'two/SKILL.md', content: skillText('two') }),
    /one skill at a time/,
  );
  await refuses(readSkillPackage(Buffer.from([0, 1, 2])), /neither a zip archive nor a SKILL\.md/);
  for (const text of [
    '# No front matter',
    skillText('Bad_Name'),
    skillText('a--b'),
    skillText('x', '', '" "'),
    '---\nname: [\n---\n',
  ]) {
    await refuses(readSkillPackage(Buffer.from(text)), /has to begin with/);
  }
});

test('rejects names that lead outside, links, duplicates, passwords and damage', async () => {
  for (const name of [
    '../out.txt',
    '/etc/passwd',
    'a\\b.txt',
    'C:/x',
    'a/../../x',
    'a//b',
    './a',
    'a/\u202ebad',
    'x'.repeat(201),
    `${'a/'.repeat(8)}b`,
    'e\u0301.txt',
  ]) {
    await refuses(read({ ...main, name: 'SKILL.md' }, { name, content: 'x' }), /cannot be used|leads out/);
  }
  await refuses(read(main, { name: 'deploy/link', content: '/etc/passwd', mode: 0o120777 }), /symbolic link/);
  await refuses(read(main, { name: 'deploy/Skill.md', content: 'x' }), /twice/);
  await refuses(read(main, { name: 'deploy/x', content: 'x', encrypted: true }), /encrypted/);
  await refuses(readSkillPackage(zipOf(main).subarray(0, 60)), /damaged/);
});

test('rejects a package above the limits before unpacking it', async () => {
  const many = Array.from({ length: limits.skillFiles }, (_, index) => ({ name: `deploy/${index}`, content: '' }));
  await refuses(read(main, ...many), /at most 200 files/);
  const big = Buffer.alloc(limits.skillBytes + 1);
  await refuses(read(main, { name: 'deploy/big', content: big }), /at most 4 MiB/);
  await refuses(read(main, { name: 'deploy/bomb', content: big, claimed: 10 }), /damaged/);
  await refuses(readSkillPackage(Buffer.from(skillText('deploy', 'x'.repeat(300 * 1024)))), /256 KiB/);
});
