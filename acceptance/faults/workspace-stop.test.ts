import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { until } from '../../contracts/test/until.ts';
import { scratchFolder, setUp, startProduct, workspacePids } from '../product.ts';
import { addPerson, openTerminal } from './people.ts';

const probe = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-user', '--unshare-pid', 'true']);
const skip = probe.status === 0 || process.env.REQUIRE_SANDBOX === '1' ? false : 'no sandbox can be made here';

test('ends only unused workspaces when the service stops', {
  timeout: 300_000,
  skip,
}, async () => {
  const dataDir = scratchFolder();
  const env = { WORKSPACE_MODE: 'local' };
  const product = await startProduct(dataDir, env);
  const ada = await setUp(product.url);
  const bob = await addPerson(ada, 1);
  for (const caller of [ada, bob]) await caller.must('POST', '/api/workspace/status');
  const terminal = await openTerminal(bob);
  assert.equal(workspacePids(dataDir).length, 4);

  product.kill('SIGTERM');
  assert.equal(await product.exited, 0, product.output());
  terminal.close();
  await until('only the one in use runs on', () => workspacePids(dataDir).length === 2);

  const again = await startProduct(dataDir, env);
  for (const caller of [ada, bob]) caller.url = again.url;
  const status = await ada.must('GET', '/api/workspace/status');
  assert.deepEqual([status.phase, /nothing used it/.test(status.message)], ['stopped', true]);
  assert.equal((await bob.must('GET', '/api/workspace/status')).phase, 'running');
});
