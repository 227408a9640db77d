#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { endProcess } from '../end-process.ts';
import { Flags } from './call.ts';
import { type Command, commands } from './commands.ts';
import { readConfig, version } from './config.ts';
import { exitCodes, Failure, reasonOf, usage } from './failure.ts';
import { helpText } from './help.ts';
import { print } from './output.ts';
import { removeUnfinished } from './unfinished.ts';

/** The `homeport` command of a workspace. */

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
/** The exit code that a shell reports for a program ended by SIGPIPE. */
const brokenPipe = 141;

class Interrupted extends Error {}

async function main(words: readonly string[]): Promise<void> {
  const [first] = words;
  if (first === '--version' || first === '-V' || first === 'version') return print(`homeport ${version}\n`);
  if (first === undefined) throw usage('Missing command', 'See `homeport help`.');
  if (first === 'help' || first === '--help' || first === '-h') return showHelp(words.slice(1));
  const { command, rest } = findCommand(words);
  if (command === undefined) return showHelp([first]);
  const { values, positionals } = parse(command, rest);
  if (values.help === true) return showHelp(command.name.split(' '));
  if (positionals.length < command.minOperands) throw usage('Missing argument', seeHelp(command.name));
  if (positionals.length > command.maxOperands) throw usage('Too many arguments', seeHelp(command.name));
  const flags = new Flags(values);
  await command.run({ config: readConfig(), operands: positionals, flags, signal: interruption.signal });
}

async function showHelp(words: readonly string[]): Promise<void> {
  const text = helpText(words.filter((word) => !word.startsWith('-')));
  if (text === undefined) throw usage(`There is no command \`${words.join(' ')}\``, 'See `homeport help`.');
  await print(text);
}

/** The command that the first words name; none if they only begin one, as then help is wanted. */
function findCommand(words: readonly string[]): { command: Command | undefined; rest: string[] } {
  for (const command of commands) {
    const { length } = command.name.split(' ');
    if (words.slice(0, length).join(' ') === command.name) return { command, rest: words.slice(length) };
  }
  const [group = '', name] = words;
  const isGroup = commands.some((command) => command.name.startsWith(`${group} `));
  const isOption = name === undefined || name === 'help' || name.startsWith('-');
  if (isGroup && isOption) return { command: undefined, rest: [] };
  const typed = isGroup ? `${group} ${name}` : group;
  throw usage(`There is no command \`${typed}\``, seeHelp(isGroup ? group : ''));
}

function parse(command: Command, args: string[]) {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { type, short }]) => [
      name,
      short === undefined ? { type } : { type, short },
    ]),
  );
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    const [sentence = ''] = reasonOf(error).split('. ');
    throw usage(sentence, seeHelp(command.name));
  }
}

function seeHelp(name: string): string {
  return `See \`homeport help${name === '' ? '' : ` ${name}`}\`.`;
}

const interruption = new AbortController();
let interruptedBy: keyof typeof signals | undefined;

/** Ends the process: everything has been written by now. */
function end(exitCode: number): never {
  removeUnfinished();
  endProcess(exitCode);
}

for (const name of Object.keys(signals) as (keyof typeof signals)[]) {
  process.on(name, () => {
    // A second Ctrl-C does not wait for the cleanup.
    if (interruptedBy !== undefined) end(signals[interruptedBy]);
    interruptedBy = name;
    interruption.abort(new Interrupted(name));
  });
}
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') process.stderr.write(`homeport: Cannot write: ${reasonOf(error)}\n`);
  end(error.code === 'EPIPE' ? brokenPipe : exitCodes.failure);
});
process.stderr.on('error', () => undefined);

function tell(error: unknown, words: readonly string[]): number {
  if (interruptedBy !== undefined) return signals[interruptedBy];
  const failure =
    error instanceof Failure ? error : new Failure(exitCodes.failure, `Unexpected error: ${reasonOf(error)}`);
  const { message, hint, code, exitCode } = failure;
  const text = words.includes('--json')
    ? JSON.stringify({ error: { message, code, hint, exitCode } })
    : `homeport: ${message}${hint === undefined ? '' : `\n${hint}`}`;
  process.stderr.write(`${text}\n`);
  return exitCode;
}

const words = process.argv.slice(2);
main(words).then(
  () => end(interruptedBy === undefined ? exitCodes.ok : signals[interruptedBy]),
  (error: unknown) => end(tell(error, words)),
);
