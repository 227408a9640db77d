import { access, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { ContainerInspectInfo } from 'dockerode';
import { type Engine, inspect } from './engine.ts';

/** Root folder and host name to examine; tests replace them. */
export type Surroundings = { root: string; hostname: string };

const here: Surroundings = { root: '/', hostname: hostname() };
/** Files that engines mount into every container from a folder named by its id. */
const engineFile = /^\S+ \S+ \S+ (\S+) \/etc\/(?:hostname|hosts|resolv\.conf) /;
const idInPath = /\/([0-9a-f]{64})\//;
const idInGroup = /\b([0-9a-f]{64})(?:\.scope)?$/;
// regex-bound: the kernel's list of this process's mounts
const rootMount = /^\S+ \S+ \S+ \S+ \/ .* - overlay .*\bupperdir=([^,\s]+)/m;
/** Short ids are the default host name; a custom one can be the name of another container. */
const shortId = /^[0-9a-f]{12}$/;
const comparedMax = 200;

/**
 * The container that this process is in, as the engine describes it: by the id in its mounts or control groups, by its
 * default host name, or by its root file system. Undefined on the engine's own machine, and in a container that this
 * engine does not run.
 */
export async function ownContainer(
  engine: Engine,
  { root, hostname: name } = here,
): Promise<ContainerInspectInfo | undefined> {
  const isInside = await exists([join(root, '.dockerenv'), join(root, 'run/.containerenv')]);
  const mounts = await read(join(root, 'proc/self/mountinfo'));
  const ids = new Set([...idsOfMounts(mounts), ...idsOfGroups(await read(join(root, 'proc/self/cgroup')))]);
  if (isInside && shortId.test(name)) ids.add(name);
  for (const id of ids) {
    const found = await inspect(engine.getContainer(id));
    if (found?.Id.startsWith(id) === true) return found;
  }
  const upper = rootMount.exec(mounts)?.[1];
  return isInside && upper !== undefined ? findByRoot(engine, upper) : undefined;
}

function idsOfMounts(mounts: string): string[] {
  return mounts.split('\n').flatMap((line) => idInPath.exec(engineFile.exec(line)?.[1] ?? '')?.[1] ?? []);
}

function idsOfGroups(groups: string): string[] {
  return groups.split('\n').flatMap((line) => idInGroup.exec(line)?.[1] ?? []);
}

async function findByRoot(engine: Engine, upper: string): Promise<ContainerInspectInfo | undefined> {
  for (const { Id } of (await engine.listContainers()).slice(0, comparedMax)) {
    const found = await inspect(engine.getContainer(Id));
    const data: Record<string, unknown> = { ...found?.GraphDriver?.Data };
    if (data.UpperDir === upper) return found;
  }
  return undefined;
}

async function exists(paths: string[]): Promise<boolean> {
  const found = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}

function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
