import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** The programs that every workspace sees in /opt/homeport. */
export type InsidePrograms = {
  /** The folder that has them. */
  folder: string;
  /** What of it is shown, files and folders, by name. */
  entries: string[];
  /** Arguments of `node`, below /opt/homeport. */
  daemon: string;
  /** The command-line tool, below /opt/homeport; undefined where it is not built. */
  tool: string | undefined;
  node: string;
};

/** Those of the built product beside this bundle, else the sources of this repository. */
export async function locatePrograms(): Promise<InsidePrograms> {
  const node = process.execPath;
  const built = resolve(import.meta.dirname, '../workspace');
  if (existsSync(join(built, 'daemon.cjs'))) {
    const entries = await readdir(built);
    return { folder: built, entries, daemon: 'daemon.cjs', tool: entries.find((name) => name === 'cli.cjs'), node };
  }
  const folder = resolve(import.meta.dirname, '../../../../..');
  const entries = ['workspace', 'contracts', 'node_modules'].filter((name) => existsSync(join(folder, name)));
  const tool = 'workspace/src/cli/main.ts';
  return {
    folder,
    entries,
    daemon: 'workspace/src/daemon/main.ts',
    tool: existsSync(join(folder, tool)) ? tool : undefined,
    node,
  };
}
