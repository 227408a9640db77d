import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

/** True for a line that others already stand for; asked about warnings and errors by their first argument. */
export type HidesLine = (details: unknown) => boolean;

/**
 * The process's log: one JSON object per line. Errors go into the member `cause`. Lines that `hides` names are written
 * at level debug.
 */
export function createLogger(level: string, destination?: DestinationStream, hides?: HidesLine): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { cause: describeError, err: describeError },
    ...(hides === undefined ? {} : { hooks: hidingHooks(hides) }),
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

const warnLevel = 40;

/** Options of pino that write the lines which `hides` names at level debug. */
export function hidingHooks(hides: HidesLine): NonNullable<LoggerOptions['hooks']> {
  return {
    logMethod(args, method, level) {
      if (level >= warnLevel && hides(args[0])) this.debug(...args);
      else method.apply(this, args);
    },
  };
}

const deepest = 3;

/**
 * The fields of an error in a log line: name, code, message and stack. For a failed statement only its location, since
 * PostgreSQL's messages quote values that users wrote.
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
