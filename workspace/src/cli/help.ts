import { type Command, commands, type Option } from './commands.ts';

const environment = `ENVIRONMENT
  HOMEPORT_SCOPE       chat:<id> or project:<id>: the default for --chat and
                       --project. Set when a model runs a command.
  HOMEPORT_URL         The control plane: http://..., or unix:<path>
  HOMEPORT_TOKEN_FILE  A file with the token of this workspace`;

const codes = `EXIT CODES
  0  Done                            4  Refused, or the token is not valid
  1  Failed                          5  The control plane cannot be reached
  2  Wrong usage                     6  Conflict: taken paths, archived places
  3  Not found                       7  Too large, or no space left`;

/** The list of commands, or the help of the command that these words name; undefined if there is none. */
export function helpText(words: readonly string[]): string | undefined {
  if (words.length === 0) return overview();
  const name = words.join(' ');
  const command = commands.find((one) => one.name === name);
  if (command !== undefined) return aboutCommand(command);
  const group = commands.filter((one) => one.name.startsWith(`${name} `));
  return group.length === 0 ? undefined : `${usageLines(group)}\n\nRun homeport help ${name} <command> for more.\n`;
}

function overview(): string {
  return `Your conversations and artifacts, from inside your workspace.

${usageLines(commands)}
  homeport help [command]
  homeport --version

Run \`homeport help <command>\` for its options. Every command has --json.

${codes}

${environment}
`;
}

function usageLines(shown: readonly Command[]): string {
  const lines = shown.map(({ name, operands, summary }) => `  homeport ${name} ${operands}\n      ${summary}`);
  return `USAGE\n${lines.join('\n')}`;
}

function aboutCommand({ name, operands, summary, about, options }: Command): string {
  const rows = Object.entries(options).map(([long, option]) => [flag(long, option), option.help] as const);
  const width = Math.max(...rows.map(([text]) => text.length));
  const lines = rows.map(([text, help]) => `  ${text.padEnd(width)}  ${help}`);
  return `${summary}.

USAGE
  homeport ${name} ${operands}
${about === undefined ? '' : `\n${about}\n`}
OPTIONS
${lines.join('\n')}
`;
}

function flag(long: string, { short, value }: Option): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${long}${value === undefined ? '' : ` <${value}>`}`;
}
