import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '../../contracts/test/until.ts';
import type { RuntimeStatus } from '../src/workspaces/runtime.ts';
import { type Executed, type Host, type Identity, prepareHosts, startHost, whyNotAs } from './local/host-process.ts';

for (const identity of ['root', 'ordinary user'] as Identity[]) {
  describe(`limits as ${identity}`, { skip: whyNotAs(identity) ?? false, timeout: 240_000 }, () => limits(identity));
}

function limits(identity: Identity): void {
  let hosts: Awaited<ReturnType<typeof prepareHosts>>;
  let host: Host;
  let generation = 1;
  const run = (command: string): Promise<Executed> => host.exec('alice', command, generation);
  const status = async () => (await host.ask({ ask: 'status', id: 'alice' })) as RuntimeStatus;
  const start = () => host.ask({ ask: 'start', id: 'alice', generation, slot: 1 });
  const startAnew = async (): Promise<void> => {
    generation = generation === 3 ? 1 : generation + 1;
    await start();
  };
  const stopped = async () => {
    const now = await status();
    return now.phase === 'stopped' && now;
  };
  const whyStopped = async () => (await until(stopped)).detail;

  before(async () => {
    hosts = await prepareHosts(identity);
    // An ordinary user gets no control group here, as in a login session.
    host = await startHost({ identity, dataDir: hosts.dataDir, diskMb: 64 });
    await start();
  });
  after(async () => {
    await host?.ask({ ask: 'stop', id: 'alice', graceMs: 0 }).catch(() => undefined);
    await host?.ask({ ask: 'close' }).catch(() => undefined);
    await host?.kill();
    await hosts?.destroy();
  });

  test('a process that takes all memory fails, and Node works', async () => {
    const greedy = await run(`perl -e 'my $x = "a" x 3_000_000_000; print length $x'`);
    assert.deepEqual([greedy.exitCode === 0, greedy.stdout], [false, '']);
    assert.equal((await run('node -p "new Array(1e6).fill(1).length"')).stdout.trim(), '1000000');
  });

  test('nobody inside makes the kernel spare them when memory is short', async () => {
    const { stdout } = await run(
      'for p in self 1 $(pgrep -f daemon || echo self); do (echo 0 > /proc/$p/oom_score_adj) 2>/dev/null; cat /proc/$p/oom_score_adj; done',
    );
    const scores = stdout.trim().split('\n').map(Number);
    assert.ok(
      scores.length >= 3 && scores.every((score) => score >= 300),
      `all are ended before the service: ${scores}`,
    );
  });

  test('one that is killed from outside after a command ran out of memory says so, and nothing of memory', async () => {
    await run(`perl -e 'my $x = "a" x 3_000_000_000'`);
    assert.equal((await status()).phase, 'running');
    const state = await readFile(join(hosts.dataDir, 'workspaces/alice/host/state.json'), 'utf8');
    process.kill(Number(/"inner":\{"pid":(\d+)/.exec(state)?.[1]), 'SIGKILL');
    const why = await until(whyStopped);
    assert.doesNotMatch(why, /memory/);
    await startAnew();
  });

  test('when the disk is nearly full it is ended, starts to be tidied up, and starts as ever when there is room', async () => {
    await run('echo kept > ~/kept; echo old > ~/old');
    await host.ask({ ask: 'disk', level: 'low' });
    assert.match((await whyStopped()) ?? '', /nearly full/);
    await startAnew();
    assert.match((await status()).detail ?? '', /can delete files but not write any/);
    assert.notEqual((await run('echo new > ~/new')).exitCode, 0);
    assert.equal((await run('cat ~/kept; rm ~/old; ls ~')).stdout, 'kept\nkept\nnew\n');
    await host.ask({ ask: 'disk', level: 'low' });
    assert.equal((await status()).phase, 'running', 'it is not ended again and again');
    await host.ask({ ask: 'disk', level: 'ample' });
    assert.match((await whyStopped()) ?? '', /space for files again/);
    await startAnew();
    assert.equal((await run('echo new > ~/new && cat ~/new')).stdout, 'new\n');
  });

  test('one whose files are too large is ended, can remove them, and may write again', async () => {
    await run('head -c 80000000 /dev/urandom > ~/large');
    await host.ask({ ask: 'measure' });
    assert.match((await whyStopped()) ?? '', /exceed the 64 MiB/);
    await startAnew();
    assert.notEqual((await run('echo more > ~/more')).exitCode, 0);
    assert.equal((await run('rm ~/large')).exitCode, 0);
    await host.ask({ ask: 'measure' });
    assert.match((await whyStopped()) ?? '', /space for files again/);
    await startAnew();
    assert.equal((await run('echo more > ~/more && cat ~/more')).stdout, 'more\n');
  });
}
