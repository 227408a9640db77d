import { workspaceEntry, workspaceListing } from '@homeport/contracts/workspace/daemon';
import { z } from 'zod';
import type { Pictures } from '../../../artifacts/pictures/pictures.ts';
import type { Daemon } from '../../../workspaces/daemon.ts';
import { cutLine } from '../command-output.ts';
import { defineTool } from '../tool-input.ts';
import { type Tool, ToolAnswer, type ToolContext, ToolFailure } from '../tool-run.ts';
import { readLines } from './line-reader.ts';
import { readPicture } from './picture-reader.ts';
import { folderOfFile } from './workspace-facts.ts';
import type { WorkspaceTurn } from './workspace-turn.ts';

const linesMax = 2_000;
const entriesMax = 1_000;
const matchesMax = 1_000;
const contentMax = 4 * 1024 * 1024;

const path = z.string().min(1).max(4096);
const anyPath = path.describe('Relative to the home folder, or ~/…, or /home/user/….');
const one = z.object({ entry: workspaceEntry });

const inputs = {
  read_file: z.object({
    path: anyPath,
    offset: z.number().int().min(1).max(100_000_000).optional().describe('The first line to read, starting at 1.'),
    limit: z.number().int().min(1).max(linesMax).optional().describe(`The number of lines. Default: ${linesMax}.`),
  }),
  write_file: z.object({ path: anyPath, content: z.string().max(contentMax).describe('The complete content.') }),
  edit_file: z.object({
    path: anyPath,
    oldText: z.string().min(1).max(contentMax),
    newText: z.string().max(contentMax),
    replaceAll: z.boolean().optional(),
  }),
  list_files: z.object({
    path: path.optional().describe('The folder. Default: the home folder.'),
    glob: z.string().min(1).max(1000).optional(),
    limit: z.number().int().min(1).max(entriesMax).optional().describe('Default: 200.'),
  }),
  search_files: z.object({
    pattern: z.string().min(1).max(1000),
    path: path.optional().describe('A file or folder. Default: the home folder.'),
    glob: z.string().min(1).max(1000).optional().describe('Only files whose path matches, such as *.ts.'),
    limit: z.number().int().min(1).max(matchesMax).optional().describe('Default: 100.'),
  }),
};

/** The answer whose changes these are, and the conversation that reads and writes. */
type Of = { responseId: string; chatId: string; userId: string; pictures: Pictures };
type Work<Input> = (daemon: Daemon, input: Input, signal: AbortSignal, of: Of) => Promise<string | ToolAnswer>;

/**
 * The tools for files in the workspace; their writes are recorded as changes of `responseId`. A file that changed since
 * the conversation read it is not overwritten.
 */
export function fileTools(turn: WorkspaceTurn, of: Of): Tool[] {
  const run =
    <Input extends { path?: string }>(work: Work<Input>) =>
    (input: Input, { signal }: ToolContext) => {
      turn.workedIn(folderOfFile(input.path ?? ''));
      return turn.use(signal, (daemon, own) => work(daemon, input, own, of));
    };
  return [
    defineTool({
      name: 'read_file',
      effect: 'reads',
      description:
        'Reads a text file in the workspace, or looks at a picture (PNG, JPEG, GIF, WebP, AVIF, TIFF, BMP). Returns each line of a text as its number, a tab and the text. Read long files in parts with offset and limit.',
      input: inputs.read_file,
      run: run(readFile),
    }),
    defineTool({
      name: 'write_file',
      effect: 'writes',
      description:
        'Writes a text file in the workspace, replacing an existing one. Creates missing folders. To change part of a file, use edit_file.',
      input: inputs.write_file,
      run: run(writeFile),
    }),
    defineTool({
      name: 'edit_file',
      effect: 'writes',
      description:
        'Replaces text in a file in the workspace. oldText must match the file exactly, including whitespace and without line numbers, and must occur exactly once unless replaceAll is true. The file keeps its encoding and line endings.',
      input: inputs.edit_file,
      run: run(editFile),
    }),
    defineTool({
      name: 'list_files',
      effect: 'reads',
      description:
        'Lists a folder in the workspace. With glob, such as **/*.py, finds files and folders below it. Folders end in a slash; files are listed with their size in bytes.',
      input: inputs.list_files,
      run: run(listFiles),
    }),
    defineTool({
      name: 'search_files',
      effect: 'reads',
      description:
        'Searches files in the workspace, including hidden and ignored ones, for lines that match a regular expression in ripgrep syntax: \\d, \\w, \\b, (?i); no look-around and no backreferences. Returns path:line: text.',
      input: inputs.search_files,
      run: run(searchFiles),
    }),
  ];
}

const readFile: Work<{ path: string; offset?: number; limit?: number }> = async (
  daemon,
  { path: asked, offset = 1, limit = linesMax },
  signal,
  { chatId, userId, pictures },
) => {
  const { entry } = await daemon.call(`/v1/files/stat?path=${encodeURIComponent(asked)}`, one, { signal });
  if (entry.type === 'directory') throw new ToolFailure(`${entry.path} is a folder: use list_files.`);
  if (entry.size === 0) return `[${entry.path} is empty]`;
  const read = await readLines(daemon, asked, { offset, limit, reader: chatId }, signal);
  if (read === 'binary') {
    const picture = await readPicture(daemon, asked, entry.size, signal);
    if (picture !== undefined) {
      const shown = await pictures.forModel(picture, userId, signal);
      if ('reason' in shown) throw new ToolFailure(`The picture ${entry.path} cannot be shown: ${shown.reason}.`);
      const text = `[The picture ${entry.path} (${picture.type}, ${entry.size} bytes). Read it again to look at it in a later turn.]`;
      return new ToolAnswer(text, [], undefined, [`data:${shown.mediaType};base64,${shown.bytes.toString('base64')}`]);
    }
    throw new ToolFailure(
      `${entry.path} is not a text file (${entry.size} bytes). Look at it with bash, or publish it with publish_artifact.`,
    );
  }
  if (read.lines.length === 0) return `[${entry.path} has ${read.seen} lines: there is no line ${offset}]`;
  const numbered = read.lines.map((line, index) => `${offset + index}\t${cutLine(line)}`).join('\n');
  const last = offset + read.lines.length - 1;
  const notes = [
    ...(read.isEnd ? [] : [`[up to line ${last}; continue with offset ${last + 1}]`]),
    ...(read.encoding === 'utf-8' ? [] : [`[read as ${read.encoding}; edit_file and write_file keep this encoding]`]),
  ];
  return [numbered, ...notes].join('\n');
};

const writeFile: Work<{ path: string; content: string }> = async (daemon, { path: asked, content }, signal, of) => {
  const json = { path: asked, text: content, turn: of.responseId, reader: of.chatId };
  const { entry } = await daemon.call('/v1/files/text', one, { json, signal });
  return `Wrote ${entry.size} bytes to ${entry.path}`;
};

const edited = one.extend({ replaced: z.number().int().min(0) });

const editFile: Work<{ path: string; oldText: string; newText: string; replaceAll?: boolean }> = async (
  daemon,
  { path: asked, oldText, newText, replaceAll = false },
  signal,
  of,
) => {
  if (oldText === newText) throw new ToolFailure('oldText and newText are the same.');
  const json = { path: asked, turn: of.responseId, reader: of.chatId, edits: [{ oldText, newText, all: replaceAll }] };
  const { entry, replaced } = await daemon.call('/v1/files/edit', edited, { json, signal });
  return `Replaced ${replaced} in ${entry.path}, which now has ${entry.size} bytes`;
};

const found = z.object({ entries: workspaceEntry.array().max(entriesMax), truncated: z.boolean() });

const listFiles: Work<{ path?: string; glob?: string; limit?: number }> = async (
  daemon,
  { path: asked = '~', glob, limit = 200 },
  signal,
) => {
  const { entries, isCut } = await (glob === undefined ? listFolder() : findByGlob(glob));
  if (entries.length === 0) return glob === undefined ? '[the folder is empty]' : '[no matches]';
  const lines = entries.map((entry) => {
    const shown = glob === undefined ? entry.name : entry.path;
    if (entry.type === 'directory') return `${shown}/`;
    return entry.type === 'symlink' ? `${shown} (link)` : `${shown}  ${entry.size}`;
  });
  return `${lines.join('\n')}${isCut ? `\n[only the first ${entries.length}]` : ''}`;

  async function listFolder() {
    const query = new URLSearchParams({ path: asked, limit: String(limit) });
    const listing = await daemon.call(`/v1/files?${query}`, listingOrFile, { signal });
    if (listing.type === 'file') throw new ToolFailure(`${listing.path} is a file: use read_file.`);
    return { entries: listing.entries, isCut: listing.nextCursor !== null };
  }

  async function findByGlob(pattern: string) {
    const json = { path: asked, glob: pattern, limit };
    const { entries: all, truncated } = await daemon.call('/v1/files/find', found, { json, signal });
    return { entries: all, isCut: truncated };
  }
};

const listingOrFile = z.union([workspaceListing, z.object({ type: z.literal('file'), path })]);

const matched = z.object({
  matches: z
    .object({ path, line: z.number().int().min(0), text: z.string().max(1024 * 1024) })
    .array()
    .max(matchesMax),
  truncated: z.boolean(),
});

const searchFiles: Work<{
  pattern: string;
  path?: string;
  glob?: string;
  limit?: number;
}> = async (daemon, { pattern, path: asked = '~', glob, limit = 100 }, signal) => {
  const json = { path: asked, pattern, limit, ...(glob === undefined ? {} : { glob }) };
  const { matches, truncated } = await daemon.call('/v1/files/search', matched, { json, signal });
  if (matches.length === 0) return '[no matches]';
  const lines = matches.map((match) => `${match.path}:${match.line}: ${cutLine(match.text)}`);
  return `${lines.join('\n')}${truncated ? `\n[only the first ${matches.length}]` : ''}`;
};
