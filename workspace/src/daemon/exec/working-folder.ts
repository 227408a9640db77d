import { DaemonError } from '../daemon-error.ts';
import { parsePath } from '../file-system/home-path.ts';
import { refusalOf } from '../file-system/system-errors.ts';
import { close, itself } from '../files/descriptors.ts';
import { find, openHome } from '../files/walk.ts';

/** The folder a command starts in, held by descriptor so that it cannot be replaced before the command has started. */
export function openWorkingFolder(home: string, cwd = '~'): { path: string; close(): void } {
  const opened = openHome(home);
  try {
    const { descriptor, stats } = find(opened, parsePath(cwd, home));
    if (stats.isDirectory()) return { path: itself(descriptor), close: () => close(descriptor) };
    close(descriptor);
    throw new DaemonError('not_found', 'Folder not found');
  } catch (error) {
    throw refusalOf(error);
  } finally {
    close(opened.descriptor);
  }
}
