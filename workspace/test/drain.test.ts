import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonError } from '@homeport/contracts/workspace/daemon';
import { startDaemon, textOf } from './running-daemon.ts';

test('shows the drain notice in running commands and terminals and starts nothing new', async () => {
  const daemon = await startDaemon();
  try {
    const command = daemon.exec({ id: 'long', command: 'echo begun; exec sleep 1000' });
    const background = daemon.exec({ id: 'server', command: 'echo up; exec sleep 1000', background: true });
    await command.next((event) => event.type === 'stdout');
    await background.ended;
    const terminal = daemon.openTerminal('id=t1');
    await terminal.opened;
    const message = 'This workspace restarts in 30 seconds.';
    assert.equal((await daemon.call('/v1/drain', { json: { message } })).status, 200);
    await command.next((event) => event.type === 'stderr' && event.data.includes(message));
    assert.equal(textOf(command.events, 'stderr'), `[${message}]\n`);
    const log = await daemon.call('/v1/processes/server/output?follow=false');
    assert.match(log.text, /restarts in 30 seconds/);
    await terminal.shows(message);
    const refused = await daemon.call('/v1/exec', { json: { id: 'next', command: 'true' } });
    assert.equal(refused.status, 429);
    assert.deepEqual(daemonError.parse(JSON.parse(refused.text)).error, { code: 'busy', message });
    const health = JSON.parse((await daemon.call('/v1/health')).text);
    assert.deepEqual(health.active, { processes: 2, terminals: 1, transfers: 0 });
  } finally {
    await daemon.stop();
  }
});

test('accepts a notice up to a limited length', async () => {
  const daemon = await startDaemon();
  try {
    for (const json of [{}, { message: '' }, { message: 7 }, { message: 'x'.repeat(501) }]) {
      assert.equal((await daemon.call('/v1/drain', { json })).status, 400);
    }
    assert.equal((await daemon.call('/v1/exec', { json: { id: 'a', command: 'true' } })).status, 200);
  } finally {
    await daemon.stop();
  }
});
