import type { Call } from './call.ts';

/** Table of all commands: syntax and help. The code of a command is loaded on use. */

export type Option = { type: 'boolean' | 'string'; short?: string; value?: string; help: string };

export type Command = {
  /** Its words: `artifacts put`. */
  name: string;
  /** Operands, as shown after the name. */
  operands: string;
  minOperands: number;
  maxOperands: number;
  summary: string;
  /** More help, in lines for a terminal of 80 columns. */
  about?: string;
  options: Readonly<Record<string, Option>>;
  run(call: Call): Promise<void>;
};

const json: Option = { type: 'boolean', help: 'Print JSON; errors too, on stderr' };
const help: Option = { type: 'boolean', short: 'h', help: 'Show help for this command' };
const common = { json, help };
const inScope = {
  chat: { type: 'string', value: 'id', help: 'Artifacts of this conversation (of its project, if it has one)' },
  project: { type: 'string', value: 'id', help: 'Artifacts of this project' },
  ...common,
} as const satisfies Record<string, Option>;

const target = `Name an artifact by its path or by its id. A UUID is read as an id; put \`./\`
before it to use it as a path.`;

export const commands: readonly Command[] = [
  {
    name: 'conversations',
    operands: '[list | <id> | current]',
    minOperands: 0,
    maxOperands: 1,
    summary: 'List your conversations, or read one',
    about: `Without an id, lists conversations, newest activity first. With an id, prints an
overview with a line for each turn; --turn and --full print the messages as
Markdown. \`current\` is the conversation that this command runs for.`,
    options: {
      turn: { type: 'string', value: 'number', help: 'Print one turn in full' },
      full: { type: 'boolean', help: 'Print the whole conversation' },
      limit: { type: 'string', value: 'number', help: 'List at most this many (default 50)' },
      all: { type: 'boolean', help: 'List all, without a limit' },
      ...common,
    },
    run: async (call) => (await import('./conversations.ts')).conversations(call),
  },
  {
    name: 'artifacts ls',
    operands: '[folder]',
    minOperands: 0,
    maxOperands: 1,
    summary: 'List artifacts',
    options: {
      search: { type: 'string', short: 'q', value: 'text', help: 'Only paths that contain this text' },
      limit: { type: 'string', value: 'number', help: 'List at most this many' },
      long: { type: 'boolean', short: 'l', help: 'Show ids and types' },
      ...inScope,
    },
    run: async (call) => (await import('./artifacts.ts')).list(call),
  },
  {
    name: 'artifacts stat',
    operands: '<path or id>',
    minOperands: 1,
    maxOperands: 1,
    summary: 'Show the details of an artifact',
    about: target,
    options: inScope,
    run: async (call) => (await import('./artifacts.ts')).stat(call),
  },
  {
    name: 'artifacts get',
    operands: '<path or id> [file | -]',
    minOperands: 1,
    maxOperands: 2,
    summary: 'Download an artifact',
    about: `${target}
Without a file, saves it in the current folder under its own name and overwrites
nothing. A file that you name is overwritten. \`-\` is stdout. A download that
fails leaves no partial file.`,
    options: {
      output: { type: 'string', short: 'o', value: 'file', help: 'The file, a folder, or - for stdout' },
      force: { type: 'boolean', short: 'f', help: 'Overwrite an existing file' },
      ...inScope,
    },
    run: async (call) => (await import('./transfers.ts')).get(call),
  },
  {
    name: 'artifacts put',
    operands: '<file | -> [path]',
    minOperands: 1,
    maxOperands: 2,
    summary: 'Upload a file as an artifact',
    about: `\`-\` is stdin and requires a path. A path that ends in / is a folder: the file
keeps its name in it. If the path is taken, a number is added to the name, unless
--on-conflict is given. Prints the final path.`,
    options: {
      'on-conflict': { type: 'string', value: 'what', help: 'If the path is taken: rename, replace or fail' },
      type: { type: 'string', value: 'media type', help: 'Such as text/csv; by default, derived from the name' },
      ...inScope,
    },
    run: async (call) => (await import('./transfers.ts')).put(call),
  },
  {
    name: 'artifacts mv',
    operands: '<path or id> <path>',
    minOperands: 2,
    maxOperands: 2,
    summary: 'Move or rename an artifact or a folder',
    about: `${target}
A new path that ends in / is a folder: the name is kept.`,
    options: inScope,
    run: async (call) => (await import('./artifacts.ts')).move(call),
  },
  {
    name: 'artifacts rm',
    operands: '<path or id>...',
    minOperands: 0,
    maxOperands: 1000,
    summary: 'Delete artifacts, or with --prefix a folder',
    about: target,
    options: {
      prefix: { type: 'string', value: 'folder', help: 'Delete everything in this folder' },
      yes: { type: 'boolean', short: 'y', help: 'Do not ask before deleting a folder' },
      ...inScope,
    },
    run: async (call) => (await import('./artifacts.ts')).remove(call),
  },
];
