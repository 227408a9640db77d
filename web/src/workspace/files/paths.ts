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

export type WorkspaceTab = 'files' | 'terminal' | 'apps' | 'processes';

/** The query of a place in the workspace page, without defaults. */
export function searchOf(place: { tab: WorkspaceTab; path: string; app?: { port: number; at: string } | undefined }): {
  tab?: Exclude<WorkspaceTab, 'files'>;
  path?: string;
  port?: number;
  at?: string;
} {
  return {
    ...(place.tab === 'files' ? {} : { tab: place.tab }),
    ...(place.path === home ? {} : { path: place.path }),
    ...(place.tab === 'apps' && place.app !== undefined ? place.app : {}),
  };
}

/** A port from the page's address. */
export function readPort(given: unknown): number | undefined {
  const port = Number(given);
  return Number.isInteger(port) && port >= 1 && port <= 65_535 ? port : undefined;
}

/** A path of an app from the page's address or a model; anything else is the first page. */
export function readAppPath(given: unknown): string {
  return typeof given === 'string' && given.length <= 2_000 && /^\/(?![/\\])[\x21-\x7e]*$/.test(given) ? given : '/';
}
