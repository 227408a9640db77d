import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** The licenses of bundled packages, as their terms require. */

const licenceFile = /^(licen[cs]e|copying|notice)([.-].*)?$/i;
const rule = '-'.repeat(80);

/** The folders of the packages that these files belong to, sorted; our own files have none. */
export function packageFolders(files) {
  const folders = files.flatMap((file) => {
    const path = file.replace(/^\0+/, '').replace(/\?.*$/, '').split(/[\\/]/).join(sep);
    const marker = `${sep}node_modules${sep}`;
    const at = path.lastIndexOf(marker);
    if (at === -1) return [];
    const [scope, name] = path.slice(at + marker.length).split(sep);
    const own = scope.startsWith('@') ? join(scope, name) : scope;
    const folder = join(path.slice(0, at + marker.length), own);
    return existsSync(join(folder, 'package.json')) ? [folder] : [];
  });
  return [...new Set(folders)].sort();
}

/** One text: each package once per version, with its license and notice files. */
export function noticesOf(files) {
  const byName = new Map();
  for (const folder of packageFolders(files)) {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const texts = readdirSync(folder)
      .filter((file) => licenceFile.test(file))
      .sort()
      .map((file) => readFileSync(join(folder, file), 'utf8').trim());
    byName.set(
      `${name} ${version}`,
      [`${name} ${version}`, `Licence: ${license ?? 'see below'}`, ...texts].join('\n\n'),
    );
  }
  const head = 'Homeport contains the following packages. Each is under its own license.';
  const parts = [...byName].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, text]) => text);
  return `${[head, ...parts].join(`\n\n${rule}\n`)}\n`;
}
