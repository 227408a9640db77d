import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { RuntimeFailure } from '../../runtime.ts';

/** The programs that every workspace sees in /opt/homeport. */
export type InsidePrograms = {
  /** The folder that contains them. */
  folder: string;
  /** Which of its files and folders are visible, by name. */
  entries: string[];
  /** Arguments of `node`, below /opt/homeport. */
  daemon: string;
  /** The command-line tool, below /opt/homeport; undefined if it is not built. */
  tool: string | undefined;
  /** The binary for terminals if it is not among the entries. */
  pty: string | undefined;
  node: string;
};

/** Finds the programs of the built product beside this bundle, otherwise the sources of this repository. */
export async function locatePrograms(): Promise<InsidePrograms> {
  const node = process.execPath;
  const built = resolve(import.meta.dirname, '../workspace');
  if (existsSync(join(built, 'daemon.cjs'))) {
    const entries = await readdir(built);
    const [tool, beside] = ['cli.cjs', 'pty.node'].map((wanted) => entries.find((name) => name === wanted));
    const pty = beside === undefined ? ptyOfPackage() : undefined;
    return { folder: built, entries, daemon: 'daemon.cjs', tool, pty, node };
  }
  const folder = resolve(import.meta.dirname, '../../../../..');
  const entries = ['workspace', 'contracts', 'node_modules'].filter((name) => existsSync(join(folder, name)));
  const tool = 'workspace/src/cli/main.ts';
  return {
    folder,
    entries,
    daemon: 'workspace/src/daemon/main.ts',
    tool: existsSync(join(folder, tool)) ? tool : undefined,
    pty: undefined,
    node,
  };
}

/** From npm, the product is the same for all machines; the binary is in a package for this one. */
function ptyOfPackage(): string {
  const name = `@lydell/node-pty-${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/pty.node`);
  } catch {
    throw new RuntimeFailure(`the package ${name} is not installed: install with optional dependencies`);
  }
}
