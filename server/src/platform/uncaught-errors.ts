import type { Logger } from 'pino';
import { endProcess } from './end-process.ts';

/** Errors of connections and streams whose other side has gone: they say nothing about our own state. */
const goneCodes = new Set(['ABORT_ERR', 'ECONNABORTED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET']);
const goneCode = /^ERR_(?:STREAM|HTTP2|SOCKET|TLS)_/;

/**
 * What happens to failures that no code has caught: one request's must not end everybody's answers. Rejections and
 * errors of streams whose other side has gone are logged. Anything else may have left something half done: it is
 * logged, and the process ends.
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
