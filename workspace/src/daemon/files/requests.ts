import { DaemonError } from '../daemon-error.ts';
import type { Exchange } from '../http.ts';
import type { Daemon } from '../state.ts';

/** Answers everything below /v1/files. */
export async function handleFiles(_exchange: Exchange, _daemon: Daemon): Promise<void> {
  throw new DaemonError('not_found', 'Files are not served yet');
}
