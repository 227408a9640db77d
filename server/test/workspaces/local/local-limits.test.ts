import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { until } from '../../../../contracts/test/until.ts';
import type { RuntimeStatus } from '../../../src/workspaces/runtime.ts';
import { tokensOf } from './host.ts';
import { type Executed, type Host, type Identity, prepareHosts, startHost, whyNotAs } from './host-process.ts';

for (const identity of ['root', 'ordinary user'] as Identity[]) {
  describe(`limits as ${identity}`, { skip: whyNotAs(identity) ?? false }, () => limits(identity));
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
  const health = async () => {
    const { daemon: token } = tokensOf('alice', generation);
    return ((await host.ask({ ask: 'health', id: 'alice', token })) as { text: string }).text;
  };
  const whyStopped = async () => (await until(stopped)).detail;

  before(async () => {
    hosts = await prepareHosts(identity);
    // An ordinary user gets no control group here, as in a login session.
    host = await startHost({ identity, dataDir: hosts.dataDir, diskMb: 64, files: 2_000 });
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

  // Root may have a control group.
  if (identity === 'ordinary user') {
    test('the start warns that only the memory of each process is limited', async () => {
      const warnings = (await host.ask({ ask: 'warnings' })) as string[];
      assert.match(warnings.join(''), /memory of a whole workspace is not limited, only that of each of its processes/);
    });
  }

  test('processes inside cannot lower their OOM score', async () => {
    const { stdout } = await run(
      'for p in self 1 $(pgrep -f daemon || echo self); do (echo 0 > /proc/$p/oom_score_adj) 2>/dev/null; cat /proc/$p/oom_score_adj; done',
    );
    const scores = stdout.trim().split('\n').map(Number);
    assert.ok(
      scores.length >= 3 && scores.every((score) => score >= 300),
      `all are ended before the service: ${scores}`,
    );
  });

  test("reports a workspace killed from outside after a command's OOM as killed, and never as out of memory", async () => {
    await run(`perl -e 'my $x = "a" x 3_000_000_000'`);
    assert.equal((await run('echo alive')).stdout, 'alive\n', 'nobody but its daemon says that it is');
    const state = await readFile(join(hosts.dataDir, 'workspaces/alice/host/state.json'), 'utf8');
    const pidOf = (which: string) => Number(new RegExp(`"${which}":\\{"pid":(\\d+)`).exec(state)?.[1]);
    process.kill(pidOf('inner'), 'SIGKILL');
    // An earlier status would report it as running.
    await until('it has ended', () => !existsSync(`/proc/${pidOf('outer')}`));
    const why = await until(whyStopped);
    assert.doesNotMatch(why, /memory/);
    await startAnew();
  });

  test('ends a workspace on a nearly full disk, starts it for deletions only, and starts it normally once there is room', async () => {
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

  /** Once the daemon has measured, which a command waits for, but not long. */
  const writesAgain = () => until(async () => (await run('echo more > ~/more && cat ~/more')).stdout === 'more\n');

  // Until the watch ends it, at its next measurement; never so much at once that it is ended from outside.
  const fill = 'for ((i = 0; ; i++)); do head -c 2M /dev/urandom > ~/f$((i % 150)) || exit 3; sleep 0.05; done';
  const homeBytes = async () => (JSON.parse(await health()) as { usage: { homeBytes: number } }).usage.homeBytes;

  /** Until the watch has measured twice, so once from a moment after this call; it does so while a command runs. */
  async function measuredAnew(): Promise<void> {
    for (const mebibytes of [20, 40]) {
      const seen = run(`head -c ${mebibytes}M /dev/urandom > ~/m; until [ -e ~/seen ]; do sleep 0.1; done; rm ~/seen`);
      await until('the watch measures', async () => (await homeBytes()) >= mebibytes * 1024 ** 2);
      await run('touch ~/seen');
      assert.equal((await seen).exitCode, 0);
    }
    await run('rm ~/m');
  }

  test('files above the limit stop the command with a reason and block writes until some are deleted', async () => {
    // Another program on the same disk frees more than is written here.
    const freed = join(hosts.dataDir, 'freed');
    await promisify(execFile)('fallocate', ['-l', '1G', freed]);
    // The watch has to measure the current space first: space freed later is counted from there.
    await measuredAnew();
    const filling = run(fill);
    await rm(freed);
    const { exitCode, stderr } = await filling;
    assert.notEqual(exitCode, 0);
    assert.match(stderr, /disk space of this workspace is used up: \d+\.\d MiB of 64\.0 MiB are used/);
    const after = await run('echo more > ~/more');
    assert.notEqual(after.exitCode, 0);
    assert.match(after.stderr, /Nothing can be written until files are deleted/);
    const { usage } = JSON.parse(await health()) as { usage: Record<string, number> };
    assert.ok((usage.homeBytes ?? 0) > (usage.homeBytesLimit ?? 0), JSON.stringify(usage));
    assert.equal((await run('rm ~/f*')).exitCode, 0);
    await writesAgain();
    assert.equal((await status()).phase, 'running', 'it was never ended');
  });

  test('counts sparse files by their blocks, and limits a single file to the total', async () => {
    assert.equal((await run('for i in $(seq 50); do truncate -s 60M ~/s$i; done; echo ok > ~/ok')).exitCode, 0);
    assert.match((await run('truncate -s 1G ~/s; echo')).stderr, /File size limit exceeded/);
    assert.match((await run('sleep 1.5; echo fine > ~/ok; cat ~/ok; rm ~/s*')).stdout, /^fine$/m);
  });

  test('a command that makes too many empty files is ended', async () => {
    const { exitCode, stderr } = await run(
      'mkdir ~/n && cd ~/n && for ((i = 0; i < 3000000; i++)); do : > $i; ((i % 20)) || sleep 0.005; done',
    );
    assert.notEqual(exitCode, 0);
    assert.match(stderr, /\d+ of 2000 files exist/);
    assert.equal((await run('rm -r ~/n')).exitCode, 0);
    await writesAgain();
  });

  test('counts deleted files that are still open, and /tmp is full at its own size', async () => {
    const held = 'for n in 3 4; do eval "exec $n> ~/h"; rm ~/h; head -c 50M /dev/zero >&$n; done; exec sleep 600';
    // They are held open until no write succeeds.
    const { stderr } = await run(`(${held}) & while head -c 1 /dev/zero > ~/w; do sleep 0.1; done; kill $!`);
    assert.match(stderr, /disk space of this workspace is used up/);
    await writesAgain();
    const full = await run('for i in $(seq 6); do head -c 60M /dev/zero > /tmp/x$i; done; rm /tmp/x*');
    assert.match(full.stderr, /No space left on device/);
  });

  test('a workspace that keeps its daemon from watching is ended from outside, and can remove its files', async () => {
    const daemon = '$(ps -o ppid= $PPID)';
    const writes = 'for i in $(seq 8); do head -c 50M /dev/zero > ~/l$i; done; mkdir ~/c; mv ~/l* ~/c; chmod 0 ~/c';
    const { stdout } = await run(`kill -STOP ${daemon}; ${writes}; kill -CONT ${daemon}; echo done`);
    assert.equal(stdout, 'done\n');
    await host.ask({ ask: 'measure' });
    assert.match((await whyStopped()) ?? '', /exceed the 64 MiB/);
    await startAnew();
    assert.notEqual((await run('echo more > ~/more')).exitCode, 0);
    assert.equal((await run('chmod 700 ~/c; rm -r ~/c')).exitCode, 0);
    await host.ask({ ask: 'measure' });
    assert.match((await whyStopped()) ?? '', /space for files again/);
    await startAnew();
    assert.equal((await run('echo more > ~/more && cat ~/more')).stdout, 'more\n');
  });
}
