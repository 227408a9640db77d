// Plain JavaScript for the oldest supported Node: no packages, no features newer than Node 18.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files and folders that the build reads. */
export const inputs = [
  'package-lock.json',
  'scripts/build.mjs',
  'scripts/docs/docs-pages.mjs',
  'scripts/docs/docs-site.mjs',
  'docs',
  'contracts/src',
  'server/src',
  'workspace/src',
  'web/build',
  'web/diagram.html',
  'web/index.html',
  'web/public',
  'web/rendered.html',
  'web/src',
  'web/vite.config.ts',
  'web/vite.frames.config.ts',
];

/** File in which the build records the hash of its inputs. */
export const stampFile = 'dist/.inputs';

/** True if dist was made from the current sources, or if there are only built files here. */
export function isBuilt(root) {
  const stamp = join(root, stampFile);
  if (!existsSync(stamp)) return false;
  return !existsSync(join(root, 'server', 'src')) || readFileSync(stamp, 'utf8') === hashInputs(root);
}

/** Hash of the names and contents of all files that the build reads. */
export function hashInputs(root) {
  const hash = createHash('sha256');
  for (const input of inputs) addTo(hash, root, input);
  return hash.digest('hex');
}

function addTo(hash, root, path) {
  const full = join(root, path);
  if (!existsSync(full)) return;
  const entries = isFolder(full);
  if (entries === undefined) {
    hash.update(`${path}\n`).update(createHash('sha256').update(readFileSync(full)).digest());
    return;
  }
  for (const name of entries.sort()) {
    if (!/\.test\.tsx?$/.test(name)) addTo(hash, root, `${path}/${name}`);
  }
}

function isFolder(full) {
  try {
    return readdirSync(full);
  } catch (error) {
    if (error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}
