import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { RuntimeFailure } from '../../runtime.ts';
import { explainFailure, findTools } from './probe.ts';

const scratch = await mkdtemp(join(tmpdir(), 'homeport-probe-'));
after(() => rm(scratch, { recursive: true, force: true }));

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(scratch, 'x-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
    await chmod(join(folder, name), 0o755);
  }
  return folder;
}

const programs = { sh: '', prlimit: '', unshare: '', setpriv: '' };

function refuses(folder: string, reason: RegExp): Promise<void> {
  return assert.rejects(findTools([folder]), (error) => error instanceof RuntimeFailure && reason.test(error.message));
}

test('names a missing program and the package that provides it', async () => {
  await refuses(await folderWith({}), /^bwrap is missing: install bubblewrap/);
  const { setpriv: _gone, ...others } = programs;
  await refuses(await folderWith({ bwrap: '', ...others }), /^setpriv is missing: install util-linux/);
});

test('rejects an old bubblewrap and accepts the minimum version and later ones', async () => {
  const version = (text: string) => `#!/bin/sh\necho bubblewrap ${text}\n`;
  await refuses(await folderWith({ bwrap: version('0.6.1'), ...programs }), /0\.8 or later.*0\.6\.1/);
  for (const text of ['0.8.0', '0.11.0', '1.0.0']) {
    const folder = await folderWith({ bwrap: version(text), ...programs });
    assert.equal((await findTools([folder])).bwrap, join(folder, 'bwrap'));
  }
});

const denied = 'it ended with code 1: bwrap: setting up uid map: Permission denied';

test('explains a failure: AppArmor, kernel settings, a container, other causes', async () => {
  const apparmor = await folderWith({ 'proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n' });
  assert.match(await explainFailure(denied, apparmor), /AppArmor.*docs\/operations\.md/);
  const clone = await folderWith({ 'proc/sys/kernel/unprivileged_userns_clone': '0\n' });
  assert.match(await explainFailure(denied, clone), /unprivileged_userns_clone=1/);
  const most = await folderWith({ 'proc/sys/user/max_user_namespaces': '0\n' });
  assert.match(
    await explainFailure('bwrap: Creating new namespace failed: No space left on device', most),
    /max_user_namespaces/,
  );
  const docker = await folderWith({ '.dockerenv': '' });
  const message = 'bwrap: No permissions to create new namespace, likely because the kernel does not allow it';
  assert.match(await explainFailure(message, docker), /a container.*mode docker or kubernetes/);
  assert.match(
    await explainFailure("one\nbwrap: Can't find source path /x", await folderWith({})),
    /could not be created: bwrap: Can't find/,
  );
});
