import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { startTestApp } from '../app.ts';
import { provisionText } from './provision-makers.ts';

/** The examples of docs/manifest.md, applied verbatim. */

for (const [index, edition] of (['community', 'managed'] as const).entries()) {
  test(`applies the example of the ${edition} edition`, async () => {
    const page = await readFile(new URL('../../../docs/manifest.md', import.meta.url), 'utf8');
    const example = [...page.matchAll(/```yaml\n(.*?)```/gs)][index]?.[1] ?? '';
    const app = await startTestApp({ config: { edition } });
    try {
      const admin = await app.signIn({ role: 'admin' });
      const first = await provisionText(admin, example, 'application/yaml');
      assert.equal(first.status, 200, JSON.stringify(first.body));
      assert.deepEqual(first.body.warnings, []);
      assert.ok(first.body.applied.models.created > 0);
      const second = await provisionText(admin, example, 'application/yaml');
      assert.deepEqual(second.body.changes, []);
    } finally {
      await app.stop();
    }
  });
}
