import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { startTestApp } from '../../app.ts';
import { startFakeProvider } from '../../fakes/provider/provider.ts';
import { addModels } from '../chat-harness.ts';
import { gatewayUser } from './gateway-user.ts';

/** The blocks of the pages about clients: programs run unchanged but for the address, settings are well formed. */

const folder = join(import.meta.dirname, '../../../../docs/clients');
const server = join(import.meta.dirname, '../../..');

function blocksOf(page: string, language: string): string[] {
  const text = readFileSync(join(folder, page), 'utf8');
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, found, block = '']) =>
    found === language ? [block] : [],
  );
}

test("runs the documented programs of OpenAI's and Anthropic's packages", async () => {
  const provider = await startFakeProvider();
  const app = await startTestApp();
  try {
    const user = await gatewayUser(app);
    await addModels(user.signedIn, provider, ['echo']);
    const programs = blocksOf('sdks.md', 'js').filter((block) => !block.includes("from 'ai'"));
    assert.equal(programs.length, 2);
    for (const program of programs) {
      const code = program.replaceAll('https://homeport.example.org', app.url);
      const env = { ...process.env, HOMEPORT_KEY: user.token };
      const args = ['--input-type=module', '--eval', code];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: server, env });
      assert.match(stdout, /Hello/);
    }
  } finally {
    await app.stop();
    await provider.close();
  }
});

test('documents settings of clients that are well formed and name the address of the gateway', () => {
  const pages = readdirSync(folder);
  assert.ok(pages.length >= 10);
  for (const page of pages) {
    for (const block of blocksOf(page, 'json')) assert.equal(typeof JSON.parse(block), 'object', page);
    for (const block of blocksOf(page, 'yaml')) assert.equal(typeof load(block), 'object', page);
    assert.match(readFileSync(join(folder, page), 'utf8'), /https:\/\/homeport\.example\.org/, page);
  }
});
