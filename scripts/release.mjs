// `npm run release` builds all published files into release/. The same commit gives the same bytes.
//   --arch amd64|arm64   only this architecture (default: both)
//   --out <folder>       output folder (default: release/)
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { isBuilt } from './build-inputs.mjs';
import { bytesOf, packDeb, packFolder, setModes } from './release/release-archives.mjs';
import { architectures, binariesFor } from './release/release-packages.mjs';
import { sbomText } from './release/release-sbom.mjs';
import { layComplete, layNpm, version } from './release/release-tree.mjs';

const root = dirname(import.meta.dirname);

/** Builds the files of a release in `out`; returns their names. */
export async function release({ out, only = Object.keys(architectures) }) {
  if (!isBuilt(root)) await build();
  const seconds = sourceDate();
  const work = mkdtempSync(join(tmpdir(), 'homeport-release-'));
  try {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    const sbom = sbomText({ version, seconds });
    writeFileSync(join(out, `homeport-${version}.cdx.json`), sbom);
    layNpm(join(work, 'package'), { sbom });
    await packFolder({ parent: work, name: 'package', file: join(out, `homeport-npm-${version}.tgz`), seconds });
    await packChart({ work, out, seconds });
    for (const arch of only) await packComplete({ work, out, seconds, arch, sbom });
    copyFileSync(join(root, 'deploy/release.Dockerfile'), join(out, 'Dockerfile'));
    await writeSums(out);
    return readdirSync(out).sort();
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The time of the commit. An unpacked archive of the sources has no commit and takes it from SOURCE_DATE_EPOCH. */
function sourceDate() {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given !== undefined && /^\d{1,11}$/.test(given)) return Number(given);
  try {
    return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8', stdio: 'pipe' }));
  } catch {
    return Math.floor(statSync(join(root, 'package-lock.json')).mtimeMs / 1_000);
  }
}

async function packChart({ work, out, seconds }) {
  const parent = join(work, 'chart');
  cpSync(join(root, 'deploy/helm'), parent, { recursive: true });
  setModes(parent);
  await packFolder({ parent, name: 'homeport', file: join(out, `homeport-chart-${version}.tgz`), seconds });
}

async function packComplete({ work, out, seconds, arch, sbom }) {
  const cpu = architectures[arch];
  const name = `homeport-${version}-linux-${arch}`;
  const tree = join(work, name);
  mkdirSync(tree);
  const binaries = await binariesFor(cpu);
  await layComplete(tree, { cpu, binaries, sbom });
  await packFolder({ parent: work, name, file: join(out, `${name}.tar.gz`), seconds });
  const deb = layDeb({ work, tree, arch });
  await packDeb({ tree: deb, file: join(out, `homeport_${version}_${arch}.deb`), seconds });
  rmSync(deb, { recursive: true });
}

/** Moves the files to the paths that Debian uses. */
function layDeb({ work, tree, arch }) {
  const deb = join(work, `deb-${arch}`);
  for (const folder of [
    'usr/lib',
    'usr/bin',
    'lib/systemd/system',
    'etc/homeport',
    'usr/share/doc/homeport',
    'DEBIAN',
  ]) {
    mkdirSync(join(deb, folder), { recursive: true });
  }
  cpSync(tree, join(deb, 'usr/lib/homeport'), { recursive: true, verbatimSymlinks: true });
  copyFileSync(join(root, 'deploy/package/deb/homeport'), join(deb, 'usr/bin/homeport'));
  symlinkSync('homeport', join(deb, 'usr/bin/homeport-admin'));
  copyFileSync(join(root, 'deploy/package/homeport.env'), join(deb, 'etc/homeport/homeport.env'));
  const unit = readFileSync(join(root, 'deploy/homeport.service'), 'utf8').replaceAll(
    '/opt/homeport',
    '/usr/lib/homeport',
  );
  writeFileSync(join(deb, 'lib/systemd/system/homeport.service'), unit);
  const licences = [
    'LICENSE',
    'THIRD-PARTY-NOTICES.txt',
    'node_modules/node/LICENSE',
    'deploy/package/POSTGRESQL-LICENCES.txt',
  ];
  writeFileSync(join(deb, 'usr/share/doc/homeport/copyright'), licencesText(licences));
  const installedKb = Math.ceil(bytesOf(deb) / 1024);
  for (const script of ['postinst', 'prerm', 'postrm']) {
    copyFileSync(join(root, 'deploy/package/deb', script), join(deb, 'DEBIAN', script));
  }
  writeFileSync(join(deb, 'DEBIAN/conffiles'), '/etc/homeport/homeport.env\n');
  const control = readFileSync(join(root, 'deploy/package/deb/control'), 'utf8');
  const filled = { VERSION: version, ARCH: arch, SIZE: installedKb };
  writeFileSync(
    join(deb, 'DEBIAN/control'),
    control.replace(/@(\w+)@/g, (_, key) => String(filled[key])),
  );
  setModes(deb);
  return deb;
}

function licencesText(names) {
  return `Licenses of Homeport and its bundled packages, below /usr/lib/homeport:\n\n${names.map((name) => `  ${name}`).join('\n')}\n`;
}

/** For `sha256sum --check`. */
async function writeSums(out) {
  const lines = [];
  for (const name of readdirSync(out).sort()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(out, name)), hash);
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
}

async function main() {
  const { values } = parseArgs({
    options: { arch: { type: 'string', multiple: true }, out: { type: 'string' } },
  });
  const unknown = values.arch?.find((arch) => !Object.hasOwn(architectures, arch));
  if (unknown !== undefined)
    throw new Error(`--arch ${unknown} is not one of ${Object.keys(architectures).join(', ')}`);
  // An unpacked archive of the sources has no git.
  const { stdout: changed } = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (changed) console.error('Homeport: the tree has changes: this release cannot be made again from its commit');
  const out = resolve(values.out ?? join(root, 'release'));
  for (const name of await release({ out, only: values.arch })) {
    console.log(`${(statSync(join(out, name)).size / 1e6).toFixed(1).padStart(7)} MB  ${join(out, name)}`);
  }
}

if (process.argv[1] === import.meta.filename) {
  await main().catch((error) => {
    console.error(`Homeport: no release: ${error.message}`);
    process.exitCode = 1;
  });
}
