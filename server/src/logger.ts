import { type DestinationStream, type Logger, pino } from 'pino';

/** The process's log: one JSON object per line. Errors go into the member `cause`. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { cause: describeError, err: describeError },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

const deepest = 3;

/**
 * What a log line says about an error: name, code, message and stack. For a failed statement only where it happened,
 * since PostgreSQL's texts quote values, which people wrote.
 */
function describeError(error: unknown, depth = 1): unknown {
  if (!(error instanceof Error)) return { message: String(error).slice(0, 1_000) };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  const described = {
    name: error.name,
    code: memberOf(error, 'code'),
    stack: frames?.map((line) => line.trim()).slice(0, 20),
    cause: error.cause === undefined || depth >= deepest ? undefined : describeError(error.cause, depth + 1),
  };
  if (memberOf(error, 'severity') === undefined) return { ...described, message: error.message.slice(0, 1_000) };
  const place = ['table', 'column', 'constraint', 'routine'].map((name) => [name, memberOf(error, name)]);
  return { ...described, ...Object.fromEntries(place) };
}

function memberOf(error: Error, name: string): string | undefined {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : undefined;
}
