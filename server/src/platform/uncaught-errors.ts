import type { Logger } from 'pino';
import { endProcess } from './end-process.ts';

/** Errors of connections and streams whose other side has gone: they say nothing about our own state. */
const goneCodes = new Set(['ABORT_ERR', 'ECONNABORTED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET']);
const goneCode = /^ERR_(?:STREAM|HTTP2|SOCKET|TLS)_/;

/**
 * Handles errors that no code has caught, since a failed request must not end the answers of all users. Logs rejections
 * and errors of streams whose peer has disconnected. Any other error can leave state inconsistent: it is logged, and
 * the process exits.
 */
export function installLastResort(log: Pick<Logger, 'error' | 'fatal'>): void {
  process.on('unhandledRejection', (reason) => log.error({ cause: reason }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    if (isOfGoneStream(error)) return log.error({ cause: error }, 'unhandled stream error');
    log.fatal({ cause: error }, 'uncaught exception: the process ends');
    endProcess(1);
  });
}

function isOfGoneStream(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'AbortError') return true;
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' && (goneCodes.has(code) || goneCode.test(code));
}
