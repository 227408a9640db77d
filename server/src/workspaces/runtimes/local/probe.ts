import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RuntimeFailure } from '../../runtime.ts';
import type { Tools } from './sandbox.ts';
import type { Machine } from './system-calls.ts';

const searchPath = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];
const leastVersion = [0, 8];
const ubuntuSwitch = 'kernel/apparmor_restrict_unprivileged_userns';

/** The machine type of the filter; throws RuntimeFailure if there is no filter for it. */
export function requireMachine(): Machine {
  if (process.platform !== 'linux') {
    throw new RuntimeFailure('mode local needs Linux; use mode docker on this system.');
  }
  if (process.arch === 'x64' || process.arch === 'arm64') return process.arch;
  throw new RuntimeFailure(`mode local does not support ${process.arch} processors; use mode docker.`);
}

/**
 * Finds the programs needed for a sandbox; throws RuntimeFailure naming what is missing. Tests replace the usual
 * folders with `path`.
 */
export async function findTools(path = searchPath): Promise<Tools> {
  const find = async (name: string, help: string): Promise<string> => {
    for (const folder of path) {
      const file = join(folder, name);
      if (await isExecutable(file)) return file;
    }
    throw new RuntimeFailure(`${name} is missing: ${help}.`);
  };
  const bwrap = await find('bwrap', 'install bubblewrap (apt install bubblewrap, dnf install bubblewrap)');
  const utilities = 'install util-linux';
  const tools = {
    bwrap,
    sh: await find('sh', 'install a shell'),
    prlimit: await find('prlimit', utilities),
    unshare: await find('unshare', utilities),
    setpriv: await find('setpriv', utilities),
  };
  const { stdout } = await promisify(execFile)(bwrap, ['--version'], { timeout: 10_000 });
  const [major = 0, minor = 0] = (/(?<!\d)(\d{1,6})\.(\d{1,6})/.exec(stdout)?.slice(1) ?? []).map(Number);
  const [leastMajor = 0, leastMinor = 0] = leastVersion;
  if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
    throw new RuntimeFailure(`bubblewrap ${leastVersion.join('.')} or later is needed, ${stdout.trim()} is installed.`);
  }
  return tools;
}

/** Why a trial sandbox failed, in words for the operator; `output` is what it wrote. Tests replace `root`. */
export async function explainFailure(output: string, root = '/'): Promise<string> {
  const lastLine = output.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
  const isRefused = /namespace|uid map|RTM_NEWADDR|Operation not permitted|Permission denied/i.test(output);
  const setting = async (name: string): Promise<string | undefined> =>
    readFile(join(root, 'proc/sys', name), 'utf8').then(
      (text) => text.trim(),
      () => undefined,
    );
  if (isRefused && (await setting(ubuntuSwitch)) === '1') {
    return (
      'AppArmor keeps programs from creating user namespaces (Ubuntu sets kernel.apparmor_restrict_unprivileged_userns=1). ' +
      'Give bubblewrap a profile, or switch the restriction off: see docs/operations.md, "Workspaces on this machine".'
    );
  }
  if ((await setting('kernel/unprivileged_userns_clone')) === '0') {
    return 'the kernel forbids user namespaces: set kernel.unprivileged_userns_clone=1 with sysctl.';
  }
  if ((await setting('user/max_user_namespaces')) === '0') {
    return 'the kernel forbids user namespaces: raise user.max_user_namespaces with sysctl.';
  }
  const container = isRefused ? await findContainer(root) : undefined;
  if (container !== undefined) {
    return `this is ${container}, which may not create sandboxes: use mode docker or kubernetes there (${lastLine}).`;
  }
  return `a sandbox could not be created: ${lastLine || 'no reason was given'}`;
}

async function findContainer(root: string): Promise<string | undefined> {
  for (const file of ['.dockerenv', 'run/.containerenv', 'var/run/secrets/kubernetes.io']) {
    const isThere = await access(join(root, file)).then(
      () => true,
      () => false,
    );
    if (isThere) return 'a container';
  }
  const environment = await readFile(join(root, 'proc/1/environ'), 'utf8').catch(() => '');
  return /(^|\0)container=/.test(environment) ? 'a container' : undefined;
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
