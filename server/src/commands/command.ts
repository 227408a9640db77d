import { parseArgs } from 'node:util';
import { type Config, directUrl, loadConfig } from '../config/config.ts';
import { joinEmbedded } from '../db/embedded/embedded.ts';
import { assertOwnSchema } from '../db/migrate.ts';
import { type Database, type DatabaseLog, openDatabase } from '../db/pool.ts';
import { databaseProblem } from '../db/problems.ts';
import { adminCommand } from '../platform/command-line.ts';

/** The operator's commands: their descriptions, arguments and output. Each is one `Command`. */

type Options = Readonly<Record<string, { type: 'string' | 'boolean' }>>;

export type Command = {
  /** One or two words. */
  name: string;
  /** Arguments after the name. */
  synopsis: string;
  /** A line or two for the list of commands. */
  summary: string;
  /** The options and other details. */
  help: string;
  options: Options;
  /** How many words it takes besides its options: at least, at most. */
  words: readonly [number, number];
  run(call: Call): Promise<Outcome>;
};

export type Call = {
  words: readonly string[];
  json: boolean;
  signal: AbortSignal;
  flag(name: string): boolean;
  value(name: string): string | undefined;
  /** A line for people on standard error, which is not the result. */
  note(line: string): void;
};

/** `lines` for people, `result` with --json; neither for a command that wrote its output itself. */
export type Outcome = { ok: boolean; lines?: readonly string[]; result?: object };

/** The command was called in the wrong way: exit code 2. */
export class UsageError extends Error {}

const complain = (line: string): void => void process.stderr.write(`${line}\n`);

/** Writes messages of the database to standard error. */
export const commandLog: DatabaseLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: (details, message) => complain(`${message} ${JSON.stringify(details)}`),
  error: (details, message) => complain(`${message} ${JSON.stringify(details)}`),
};

/** The database of this installation, whether the service runs or not. */
export async function openInstallation(config: Config, signal: AbortSignal) {
  const embedded =
    config.databaseUrl === undefined
      ? await joinEmbedded({ dataDir: config.dataDir, log: commandLog, signal })
      : undefined;
  const db = openDatabase({ connection: embedded?.connection ?? directUrl(config) ?? '', max: 2, log: commandLog });
  const close = async (): Promise<void> => {
    await db.close();
    await embedded?.stop();
  };
  try {
    await assertOwnSchema(db);
  } catch (error) {
    await close();
    throw error;
  }
  return { db, close };
}

/** Runs `work` on this installation's database. */
export async function withInstallation<T>(
  signal: AbortSignal,
  work: (installation: { config: Config; db: Database }) => Promise<T>,
): Promise<T> {
  const config = loadConfig(undefined, 'must-exist');
  const { db, close } = await openInstallation(config, signal);
  try {
    return await work({ config, db });
  } finally {
    await close();
  }
}

/** Runs one call and returns its exit code: 0, 1 for what failed, 2 for what was not understood. */
export async function runCommand(
  commands: readonly Command[],
  args: readonly string[],
  version: string,
): Promise<number> {
  const [first = '', second = ''] = args;
  if (first === '--version') {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  if (first === '--help' || first === 'help') {
    process.stdout.write(usageOf(commands));
    return 0;
  }
  const command =
    commands.find(({ name }) => name === `${first} ${second}`) ?? commands.find(({ name }) => name === first);
  if (command === undefined) {
    const group = commands.filter(({ name }) => name.startsWith(`${first} `));
    if (group.length > 0 && args.includes('--help')) {
      process.stdout.write(usageOf(group));
      return 0;
    }
    if (first !== '') complain(`There is no command "${args.slice(0, group.length > 0 ? 2 : 1).join(' ')}".\n`);
    process.stderr.write(usageOf(group.length > 0 ? group : commands));
    return 2;
  }
  const rest = args.slice(command.name.split(' ').length);
  if (rest.includes('--help')) {
    process.stdout.write(helpOf(command));
    return 0;
  }
  return callCommand(command, rest);
}

async function callCommand(command: Command, rest: readonly string[]): Promise<number> {
  const json = rest.includes('--json');
  try {
    const { values, positionals } = parsed(command, rest);
    const stopping = new AbortController();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => stopping.abort(new Error('interrupted')));
    }
    const { ok, lines, result } = await command.run({
      words: positionals,
      json,
      signal: stopping.signal,
      note: complain,
      flag: (name) => values.get(name) === true,
      value: (name) => {
        const value = values.get(name);
        return typeof value === 'string' ? value : undefined;
      },
    });
    if (json && result !== undefined) say(JSON.stringify({ ok, ...result }));
    else for (const line of lines ?? []) say(line);
    return ok ? 0 : 1;
  } catch (error) {
    if (error instanceof UsageError) {
      complain(error.message);
      process.stderr.write(helpOf(command));
      return 2;
    }
    const message = describe(error);
    if (json) say(JSON.stringify({ ok: false, error: { message } }));
    else complain(message);
    return 1;
  }
}

function parsed(command: Command, args: readonly string[]) {
  try {
    const options = { ...command.options, json: { type: 'boolean' } as const };
    const found = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    const [least, most] = command.words;
    const count = found.positionals.length;
    if (count < least || count > most)
      throw new UsageError(count < least ? 'Something is missing.' : 'That is too much.');
    return { values: new Map(Object.entries(found.values)), positionals: found.positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(error instanceof Error ? error.message : 'This was not understood.');
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function usageOf(commands: readonly Command[]): string {
  const lines = commands.map(({ name, synopsis, summary }) => {
    const indented = summary.split('\n').map((line) => `      ${line}`);
    return [`  ${name} ${synopsis}`.trimEnd(), ...indented].join('\n');
  });
  return `Usage: ${adminCommand} <command>

Commands:
${lines.join('\n')}

Each command has --help and --json. Exit codes: 0 done, 1 failed, 2 not understood.
`;
}

function helpOf({ name, synopsis, summary, help }: Command): string {
  const form = `${name} ${synopsis}`.trimEnd();
  // Below the descriptions of the other options. regex-bound: our own help texts
  const column = /^ +--.*? {2,}(?=\S)/.exec(help)?.[0].length ?? 12;
  const options = `${help === '' ? '' : `${help}\n`}${'  --json'.padEnd(column)}the result as one line of JSON on standard output`;
  return `Usage: ${adminCommand} ${form}\n\n${summary}\n\n${options}\n`;
}

/** The message for people; usually a wrong DATABASE_URL points to a database that was never Homeport's. */
function describe(error: unknown): string {
  const problem = databaseProblem(error);
  if (problem !== undefined) return `${problem.message} ${problem.advice}`;
  if (!(error instanceof Error)) return 'unknown reason';
  const undefinedTable = 'code' in error && error.code === '42P01';
  return undefinedTable ? 'This database was never used by Homeport. Start the service on it once.' : error.message;
}
