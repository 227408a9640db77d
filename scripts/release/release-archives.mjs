// Archives with the same bytes for the same files: order, times, owners and modes are fixed. Needs GNU tar and
// dpkg-deb.
import { execFile, spawn } from 'node:child_process';
import { chmodSync, createWriteStream, lstatSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';

const run = promisify(execFile);

/** Folder `name` in `parent` as a .tar.gz. `seconds` is the modification time of all entries. */
export async function packFolder({ parent, name, file, seconds }) {
  const fixed = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--format=ustar', `--mtime=@${seconds}`];
  const tar = spawn('tar', ['-C', parent, ...fixed, '-cf', '-', name], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve, reject) => tar.once('error', reject).once('close', resolve));
  // zlib's own header has no time and no name.
  await pipeline(tar.stdout, createGzip({ level: 6 }), createWriteStream(file));
  if ((await ended) !== 0) throw new Error(`tar failed for ${file}`);
}

export async function unpack(file, folder, { strip = 1, only = [] } = {}) {
  await run('tar', ['-C', folder, `--strip-components=${strip}`, '--no-same-owner', '-xzf', file, ...only]);
}

/** `tree` with DEBIAN/ in it as a .deb. */
export async function packDeb({ tree, file, seconds }) {
  setTimes(tree, seconds);
  // One thread, so that the bytes do not depend on the number of processors.
  const options = ['--root-owner-group', '-Zzstd', '-z10', '--threads-max=1', '--build', tree, file];
  await run('dpkg-deb', options, { env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) } });
}

function setTimes(path, seconds) {
  const facts = lstatSync(path);
  if (facts.isSymbolicLink()) return;
  if (facts.isDirectory()) for (const name of readdirSync(path)) setTimes(join(path, name), seconds);
  utimesSync(path, seconds, seconds);
}

/** Sets folders and programs to 0755 and other files to 0644, regardless of the umask. */
export function setModes(path) {
  const facts = lstatSync(path);
  if (facts.isSymbolicLink()) return;
  const executable = facts.isDirectory() || (facts.mode & 0o100) !== 0;
  chmodSync(path, executable ? 0o755 : 0o644);
  if (facts.isDirectory()) for (const name of readdirSync(path)) setModes(join(path, name));
}

/** Bytes of all files below. */
export function bytesOf(path) {
  const facts = lstatSync(path);
  if (!facts.isDirectory()) return facts.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}
