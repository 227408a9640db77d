/** Paths of a workspace as the service answers them: `~` or `~/below/it`. */

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

/** The way from the home to a path, both included. */
export function crumbsOf(path: string): { path: string; name: string }[] {
  const names = path.split('/');
  return names.map((name, index) => ({ path: names.slice(0, index + 1).join('/'), name }));
}

/** What an address of ours may hold: anything else is the home. */
export function readPath(given: unknown): string {
  return typeof given === 'string' && /^~(?:\/[^/]+)*$/.test(given) && given.length <= 4096 ? given : home;
}

/** The address of a place in the workspace's page: what is usual is not said. */
export function searchOf(place: { tab: 'files' | 'terminal'; path: string }): { tab?: 'terminal'; path?: string } {
  return {
    ...(place.tab === 'files' ? {} : { tab: place.tab }),
    ...(place.path === home ? {} : { path: place.path }),
  };
}
