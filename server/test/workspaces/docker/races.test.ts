import assert from 'node:assert/strict';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { DockerLab, newId } from './docker-lab.ts';

/**
 * The swap races of the daemon's file operations, run inside: as its user, with its rights, on the volume that holds
 * the home.
 */

const root = join(import.meta.dirname, '../../../..');
const races = process.env.SWAP_RACES_IN_CONTAINER ?? '1000';

let lab: DockerLab;
before(async () => {
  lab = await DockerLab.open();
});
after(() => lab.close());

test('reads and writes nothing outside while names are exchanged concurrently', async () => {
  const id = newId();
  await lab.start(id);
  const { Config, HostConfig } = await lab.container(id).inspect();
  const sources = { Type: 'bind' as const, Source: root, Target: '/src', ReadOnly: true };
  const container = await lab.engine.createContainer({
    Image: Config.Image,
    User: Config.User,
    // One stream: the output is read as text.
    Tty: true,
    Entrypoint: ['/usr/bin/node'],
    Cmd: ['--test', '--test-reporter=tap', '/src/workspace/test/files/files-races.test.ts'],
    Env: [...(Config.Env ?? []), `SWAP_RACES=${races}`, 'SWAP_FOLDER=/home/user'],
    HostConfig: { ...HostConfig, Mounts: [...(HostConfig.Mounts ?? []), sources] },
  });
  try {
    const output = await container.attach({ stream: true, stdout: true, stderr: true });
    const printing = text(output);
    await container.start();
    const { StatusCode } = await container.wait();
    const printed = await printing;
    assert.equal(StatusCode, 0, printed);
    assert.match(printed, /^# pass [1-9]\d+\r?$/m);
  } finally {
    await container.remove({ force: true });
  }
});
