/** Workspace paths as the service returns them: `~` or `~/below/it`. */

export const home = '~';

export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? home : path.slice(0, slash);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function joinPath(folder: string, name: string): string {
  return `${folder}/${name}`;
}

/** The path from the home to a place, both included. */
export function crumbsOf(path: string): { path: string; name: string }[] {
  const names = path.split('/');
  return names.map((name, index) => ({ path: names.slice(0, index + 1).join('/'), name }));
}

/** A path from the page's address; anything invalid means the home. */
export function readPath(given: unknown): string {
  return typeof given === 'string' && /^~(?:\/[^/]+)*$/.test(given) && given.length <= 4096 ? given : home;
}

/** The query of a place in the workspace page, without defaults. */
export function searchOf(place: { tab: 'files' | 'terminal'; path: string }): { tab?: 'terminal'; path?: string } {
  return {
    ...(place.tab === 'files' ? {} : { tab: place.tab }),
    ...(place.path === home ? {} : { path: place.path }),
  };
}
