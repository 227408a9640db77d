import type { Call } from './call.ts';

/** Every command: how it is typed and what it does. The code that runs it is loaded on use. */

export type Option = { type: 'boolean' | 'string'; short?: string; value?: string; help: string };

export type Command = {
  /** The words that name it: `artifacts put`. */
  name: string;
  /** What follows its name. */
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

const target = `An artifact is named by its path or by its id. What looks like a UUID is an
id; \`./\` before it makes it a path.`;

export const commands: readonly Command[] = [
  {
    name: 'conversations',
    operands: '[list | <id> | current]',
    minOperands: 0,
    maxOperands: 1,
    summary: 'List your conversations, or read one',
    about: `Without an id: a list, newest activity first. With one: an overview with a line
for each turn; --turn and --full show what was said, as Markdown. \`current\` is
the conversation that this command runs for.`,
    options: {
      turn: { type: 'string', value: 'number', help: 'One turn, with everything in it' },
      full: { type: 'boolean', help: 'All of it' },
      limit: { type: 'string', value: 'number', help: 'List at most this many (default 50)' },
      all: { type: 'boolean', help: 'All of a list' },
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
      long: { type: 'boolean', short: 'l', help: 'With ids and types' },
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
Without a file it is saved here under its own name, and nothing is overwritten;
a file that you name is. \`-\` is stdout. Half a download is never left behind.`,
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
    about: `\`-\` is stdin, and then the path is needed. A path that ends in / is a folder:
the file keeps its name in it. A taken path gets a number unless you say
otherwise; the answer tells the path that it got.`,
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
A new path that ends in / is a folder: the name stays.`,
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
