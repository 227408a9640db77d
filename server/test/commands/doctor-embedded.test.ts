import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { locatePrograms } from '../../src/db/embedded/programs.ts';
import { admin } from '../command-admin.ts';
import { dataFolder, ready, startServer } from '../process.ts';

/** The doctor on an installation with the embedded PostgreSQL. */

const dataDir = dataFolder();
const server = startServer({ DATA_DIR: dataDir });
after(async () => {
  server.child.kill('SIGTERM');
  await server.exited;
});

test('warns about unmaintained libraries of the embedded PostgreSQL, with advice', async () => {
  await ready(server);
  const { code, output } = await admin(['doctor'], { DATA_DIR: dataDir, PORT: '0', WORKSPACE_MODE: 'disabled' });
  assert.equal(code, 0, output);
  const { packageRoot, postgres } = await locatePrograms();
  if (postgres.startsWith(packageRoot)) {
    assert.match(
      output,
      /WARNING postgresql: The embedded PostgreSQL 18\.\d+ comes with OpenSSL \S+ .*and libxml2 2\./,
    );
    assert.match(output, /Install PostgreSQL 18 .*postgresql-18.* restart Homeport/);
  } else assert.match(output, /ok {6} postgresql: The PostgreSQL of this system/);
});
