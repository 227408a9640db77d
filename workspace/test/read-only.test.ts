import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { effectCommands, prepareHome } from '../../contracts/test/effect-commands.ts';
import { lacks } from '../../contracts/test/programs.ts';
import { openTargets, picture } from './effects.ts';
import { exitOf, type RunningDaemon, startDaemon, textOf } from './running-daemon.ts';

const skip = lacks('git') || lacks('jq') || lacks('ps');

describe('read-only commands', { skip }, () => {
  let daemon: RunningDaemon;
  let targets: Awaited<ReturnType<typeof openTargets>>;
  let count = 0;

  before(async () => {
    daemon = await startDaemon({ OPENAI_API_KEY: 'secret', HOMEPORT_TOKEN_FILE: '/run/workspace/token' });
    targets = await openTargets(join(daemon.folder, 'target'));
    assert.equal(exitOf(await run(prepareHome, {})).exitCode, 0);
  });
  after(async () => {
    targets?.close();
    await daemon?.stop();
  });

  const run = (command: string, more: Record<string, unknown> = { readOnly: true }) =>
    daemon.exec({ id: `c${count++}`, command, timeoutMs: 20_000, ...more }).ended;

  test('reports whether read-only commands are supported', async () => {
    const { status, text } = await daemon.call('/v1/exec');
    assert.deepEqual([status, JSON.parse(text)], [200, { readOnly: true }]);
    const { status: refused } = await daemon.call('/v1/exec', { json: { id: 'x', command: 'ls', readOnly: 'yes' } });
    assert.equal(refused, 400);
  });

  test('blocks 200 commands that write, run, connect or kill', async () => {
    const commands = effectCommands(targets);
    assert.ok(commands.length >= 200);
    const untouched = picture(daemon.home);
    for (const command of commands) {
      await run(command);
      assert.equal(targets.take(), 0, command);
      assert.deepEqual(picture(daemon.home), untouched, command);
    }
  });

  test('lets most of the same commands take effect without read-only mode', async () => {
    const sample = effectCommands({ ...targets, victim: 0 }).filter(
      (command, index) => index % 8 === 0 && !/kill/i.test(command),
    );
    let effects = 0;
    for (const command of sample) {
      const before = picture(daemon.home);
      await run(command, {});
      const isChanged = picture(daemon.home).join() !== before.join();
      if (targets.take() > 0 || isChanged) effects += 1;
      if (isChanged) await run(`rm -rf ~/[a-z]*; ${prepareHome}`, {});
    }
    assert.ok(effects > sample.length * 0.6, `${effects} of ${sample.length}`);
  });

  test('runs ordinary reading commands', async () => {
    const outputs: Record<string, RegExp> = {
      'ls -la': /script\.sh/,
      'cat file folder/inner': /^a\nb\n$/,
      'grep -rn b folder': /inner:1:b/,
      'cd repo && git log --oneline': /two/,
      'git -C repo diff': /\+3/,
      'git -C repo status --short': /M tracked/,
      'git -C repo show --stat HEAD~1': /tracked/,
      'head -n 1 file | wc -l': /^1\n$/,
      'jq -r .a <<< \'{"a": 5}\'': /^5\n$/,
      'find . -name "in*"': /folder\/inner/,
      'sort -r file folder/inner': /^b\na\n$/,
      'cat <<X\nhere\nX': /^here\n$/,
      'sed -n 1p file': /^a\n$/,
      'ls nothing 2> /dev/null; echo $?': /^2\n$/,
      'diff file folder/inner > /dev/stdout; du -sh folder | cut -f 2; stat -c %s file': /folder\n2\n$/,
      'yes | head -n 1': /^y\n$/,
      'ps -o comm= -p $$': /ps|bash/,
    };
    for (const [command, expected] of Object.entries(outputs)) {
      const events = await run(command);
      assert.match(textOf(events), expected, `${command}: ${textOf(events, 'stderr')}`);
    }
  });

  test('gives read-only commands no permissions and no view into the daemon', async () => {
    const names = textOf(await run('env'))
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0] ?? '')
      .filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name))
      .sort();
    const kept = ['GIT_OPTIONAL_LOCKS', 'HOME', 'HOMEPORT_PROCESS', 'LANG', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER'];
    assert.deepEqual(names, kept);
    for (const path of [`/proc/${daemon.child.pid}/mem`, `/proc/${daemon.child.pid}/fd/0`, '/run/utmp']) {
      assert.notEqual(exitOf(await run(`head -c 1 ${path}`)).exitCode, 0, path);
    }
  });

  test('blocks writing by long, background and stopped commands too', async () => {
    const untouched = picture(daemon.home);
    assert.match(textOf(await run(`${'echo x\n'.repeat(17_000)}touch made; echo end`)), /end\n$/);
    await run('sleep 0.01; touch made', { readOnly: true, background: true });
    const { timedOut } = exitOf(
      await run('trap "touch made" TERM; while :; do sleep 1; done', { readOnly: true, timeoutMs: 500 }),
    );
    assert.equal(timedOut, true);
    await daemon.call('/v1/processes');
    assert.deepEqual(picture(daemon.home), untouched);
  });
});
