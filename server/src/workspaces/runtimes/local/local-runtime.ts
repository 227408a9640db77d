import { createHash, randomBytes } from 'node:crypto';
import { copyFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../platform/clock.ts';
import { type OpenRuntime, RuntimeFailure, type TryRuntime } from '../../runtime.ts';
import { lockFolder } from '../folder-lock.ts';
import { HomeSpace, largestFile, limitsOf } from '../home-space.ts';
import { createWorkspaceSocketsFactory, permissionsInside } from '../workspace-sockets.ts';
import { openControlGroups } from './control-groups.ts';
import { foldersOf, prepareFolders, prepareRoot, uidOf, writeInside } from './folders.ts';
import { type InsidePrograms, locatePrograms } from './inside.ts';
import { launchSandbox } from './launch.ts';
import { LocalWorkspaces } from './local-workspaces.ts';
import { measureHome } from './measure-home.ts';
import { explainFailure, findTools, requireMachine } from './probe.ts';
import type { Tools } from './sandbox.ts';
import { readState } from './state.ts';
import { buildFilter, encodeFilter } from './system-call-filter.ts';

const probeTimeoutMs = 20_000;
const mebibyte = 1024 * 1024;
const measureMs = 60_000;
// A slot that no workspace gets.
const probeSlot = 99_999_999;

/** Workspaces as sandboxes on this machine: docs/decisions/0020-local-workspaces.md. */
export const openLocalRuntime: OpenRuntime = async (host) => {
  const { config, log } = host;
  const filter = encodeFilter(buildFilter(requireMachine()));
  const tools = await findTools();
  const root = await prepareRoot(config.dataDir);
  const programs = await locatePrograms();
  await writeTool(root, programs);
  if (programs.pty !== undefined) await placePty(root, programs.pty);
  const lock = await lockFolder(root);
  try {
    await tryOut({ root, programs, tools, filter });
    const groups = await openControlGroups(createHash('sha256').update(root).digest('hex').slice(0, 12));
    if (!groups.controllers.includes('memory')) {
      log.warn(
        'the memory of a whole workspace is not limited, only that of each of its processes: no control group is writable here ' +
          '(docs/operations.md, "Workspaces on this machine")',
      );
    }
    const space = new HomeSpace({
      disk: host.disk,
      limits: limitsOf(config),
      everyMs: measureMs,
      async measure(id) {
        const { home, host: folder } = foldersOf(root, id);
        return measureHome(home, (await readState(folder))?.inner.pid);
      },
    });
    const workspaces = await LocalWorkspaces.open({
      root,
      programs,
      tools,
      filter,
      groups,
      space,
      home: limitsOf(config),
      permissions: permissionsInside(config),
      limits: {
        memoryBytes: config.workspaceMemoryMb * mebibyte,
        cpus: config.workspaceCpus,
        processes: config.workspaceProcesses,
      },
      doors: createWorkspaceSocketsFactory(host),
      onClose: () => void lock.close(),
    });
    log.info({ limits: groups.controllers }, 'workspaces run in sandboxes on this machine');
    return workspaces;
  } catch (error) {
    lock.close();
    throw error;
  }
};

/** Starts a sandbox as `openLocalRuntime` does, beside a service that runs. Throws RuntimeFailure if that fails. */
export const tryLocalRuntime: TryRuntime = async ({ dataDir }) => {
  const filter = encodeFilter(buildFilter(requireMachine()));
  const tools = await findTools();
  await tryOut({ root: await prepareRoot(dataDir), programs: await locatePrograms(), tools, filter });
  return 'Workspaces work: a test sandbox started and ran a command.';
};

/** The command-line tool, as an executable. */
async function writeTool(root: string, { tool }: InsidePrograms): Promise<void> {
  const path = join(root, '.etc', 'homeport');
  if (tool === undefined) return rm(path, { force: true });
  const script = `#!/bin/sh\nexec /opt/homeport/bin/node /opt/homeport/${tool} "$@"\n`;
  await writeFile(path, script, { mode: 0o755 });
}

/** Replaces the file by rename, so that running workspaces keep the old one. */
async function placePty(root: string, pty: string): Promise<void> {
  const path = join(root, '.etc', 'pty.node');
  await copyFile(pty, `${path}.new`);
  await rename(`${path}.new`, path);
}

/**
 * Starts a sandbox with everything that a real one has, and checks for the daemon in it. Throws RuntimeFailure if that
 * fails.
 */
async function tryOut(parts: { root: string; programs: InsidePrograms; tools: Tools; filter: Buffer }): Promise<void> {
  const { root, programs, tools, filter } = parts;
  const id = `probe-${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    const uid = uidOf(probeSlot);
    const { inside, host } = await prepareFolders(root, id, uid);
    await writeInside(inside, uid, { token: '', 'daemon-hash': '' });
    const check = `test -r "/opt/homeport/${programs.daemon}" && test -x /opt/homeport/bin/node && : > /home/user/.probe`;
    const sandbox = {
      root,
      id,
      programs,
      uid,
      processes: 64,
      processMemoryBytes: undefined,
      mayWrite: true,
      largestFileBytes: largestFile(limitsOf({ workspaceDiskMb: 0, workspaceFiles: 0 })),
      groupFiles: [],
      environment: {},
      command: ['/bin/sh', '-c', check],
    };
    const launch = launchSandbox({ sandbox, tools, filter, host, listener: undefined });
    // Neither a sandbox nor a timer keeps the process alive, but a sleep does.
    const over = new AbortController();
    systemClock.sleep(probeTimeoutMs, over.signal).then(
      () => launch.pid > 0 && process.kill(launch.pid, 'SIGKILL'),
      () => undefined,
    );
    const { code, why } = await launch.ended.finally(() => over.abort());
    if (code !== 0) throw new RuntimeFailure(await explainFailure(why), { cause: why });
  } finally {
    await rm(join(foldersOf(root, id).home, '..'), { recursive: true, force: true });
  }
}
