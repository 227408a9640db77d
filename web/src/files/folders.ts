import type { Artifact } from '@homeport/contracts/files/artifacts';

export type Folder = { path: string; name: string; count: number };

/** Direct content of `folder` ('' is the root): its folders, each with the number of files below it, and its files. */
export function contentOf(files: readonly Artifact[], folder: string): { folders: Folder[]; files: Artifact[] } {
  const prefix = folder === '' ? '' : `${folder}/`;
  const folders = new Map<string, number>();
  const here: Artifact[] = [];
  for (const file of files) {
    if (!file.path.startsWith(prefix)) continue;
    const rest = file.path.slice(prefix.length);
    const slash = rest.indexOf('/');
    if (slash < 0) here.push(file);
    else folders.set(rest.slice(0, slash), (folders.get(rest.slice(0, slash)) ?? 0) + 1);
  }
  return {
    folders: [...folders].map(([name, count]) => ({ path: prefix + name, name, count })).sort(byName),
    files: here.sort((a, b) => compare(a.filename, b.filename)),
  };
}

/** Every folder that contains a file at any depth. */
export function allFolders(files: readonly Artifact[]): string[] {
  const paths = new Set<string>();
  for (const { path } of files) {
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1))
      paths.add(path.slice(0, slash));
  }
  return [...paths].sort(compare);
}

/** The folder of a path; '' is the top. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

const collator = new Intl.Collator(undefined, { numeric: true });
const compare = (a: string, b: string) => collator.compare(a, b);
const byName = (a: Folder, b: Folder) => compare(a.name, b.name);
