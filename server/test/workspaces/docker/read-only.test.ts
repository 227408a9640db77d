import { after, before, test } from 'node:test';
import { assertNoEffects } from '../read-only-inside.ts';
import { DockerLab, newId, type Started } from './docker-lab.ts';

let lab: DockerLab;
let one: Started;

before(async () => {
  lab = await DockerLab.open();
  one = await lab.start(newId());
});
after(() => lab.close());

test('none of 200 commands has an effect without approval, and reading works', async () => {
  const headers = { 'content-type': 'application/json' };
  const background = async (command: string) => {
    const body = JSON.stringify({ id: 'targets', command, background: true });
    const answer = await one.daemon.request('/v1/exec', { method: 'POST', headers, body });
    await answer.body.toArray();
  };
  await assertNoEffects({ run: one.run, read: one.read, background }, 'node');
});
