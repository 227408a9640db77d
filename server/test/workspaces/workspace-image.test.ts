import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { lacks } from '../../../contracts/test/programs.ts';
import { zipOf } from '../imports/import-makers.ts';

const deploy = resolve(import.meta.dirname, '../../../deploy');

/** The packages of the stage `workspace`, and the names of the programs that it copies or links. */
function recipe(file: string) {
  const text = readFileSync(join(deploy, file), 'utf8');
  const stage = /\nFROM \S+ AS workspace\n(.*?)(?=\nFROM |$)/s.exec(text)?.[1] ?? '';
  const packages = /apt-get install -y --no-install-recommends \\\n(.*?) && rm -rf/s.exec(stage)?.[1] ?? '';
  return { packages: packages.split(/[\s\\]+/).filter(Boolean), stage };
}

test('both recipes of the image have the packages that work needs', () => {
  const [own, release] = [recipe('Dockerfile'), recipe('release.Dockerfile')];
  assert.deepEqual(own.packages, release.packages);
  const needed = [
    ...['python3-venv', 'python3-pip', 'git', 'ripgrep', 'jq', 'poppler-utils', 'pandoc'],
    ...['python3-docx', 'python3-openpyxl', 'python3-odf', 'python3-xlrd', 'antiword', 'catdoc'],
    // The daemon measures and limits with these.
    ...['procps', 'util-linux'],
  ];
  assert.deepEqual(
    needed.filter((name) => !own.packages.includes(name)),
    [],
  );
  for (const { stage } of [own, release]) {
    for (const part of ['/usr/local/bin/node', 'npm-cli.js', 'npx-cli.js', 'break-system-packages', '/usr/local/bin/'])
      assert.ok(stage.includes(part), part);
  }
});

test('pptx2txt prints the slides in their order, with notes', { skip: lacks('python3') }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-pptx-'));
  try {
    const text = (words: string) =>
      `<p xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:p><a:r><a:t>${words}</a:t></a:r></a:p></p>`;
    const relation = '<r><Relationship Type="http://x/notesSlide" Target="../notesSlides/notesSlide1.xml"/></r>';
    const file = join(folder, 'talk.pptx');
    writeFileSync(
      file,
      await zipOf({
        'ppt/slides/slide10.xml': text('the last'),
        'ppt/slides/slide2.xml': text('the first'),
        'ppt/slides/_rels/slide2.xml.rels': relation,
        'ppt/notesSlides/notesSlide1.xml': text('say hello'),
      }),
    );
    const script = join(deploy, 'workspace/pptx2txt');
    const shown = execFileSync('python3', [script, file], { encoding: 'utf8' });
    assert.equal(shown, '--- Slide 2\nthe first\nNotes:\nsay hello\n--- Slide 10\nthe last\n');
    writeFileSync(file, 'no zip');
    const failed = spawnSync('python3', [script, file], { encoding: 'utf8' });
    assert.equal(failed.status, 1);
    assert.match(failed.stderr, /is no presentation that can be read/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
