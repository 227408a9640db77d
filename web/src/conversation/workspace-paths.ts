import type { Message } from '@homeport/contracts/chat/conversations';
import type { MessagePart } from '@homeport/contracts/chat/frames';

/** Files of the workspace that the tool calls of a conversation name. */

const mostPaths = 2_000;
const longestPath = 1_000;

/** The place in the home that a model's path names, as `~/folder/file`; undefined if it is no place in the home. */
export function homePath(given: string): string | undefined {
  const text = given.trim();
  if (text.length > longestPath || /\p{Cc}/u.test(text)) return undefined;
  const relative = text.replace(/^(?:~|\/home\/user)\//, '');
  if (/^[~/]/.test(relative)) return undefined;
  const names = relative.split('/').filter((name) => name !== '' && name !== '.');
  return names.length === 0 || names.includes('..') ? undefined : `~/${names.join('/')}`;
}

/** The files that the file tools of an answer have written, each once. */
export function pathsWritten(parts: readonly MessagePart[]): string[] {
  return pathsOf(parts, /^(?:write|edit)_file$/);
}

/** The files that the answers of a conversation have written, the newest first. */
export function writtenFiles(messages: readonly Message[]): string[] {
  const paths = messages.flatMap(({ parts }) => pathsWritten(parts));
  return [...new Set(paths.reverse())].slice(0, mostPaths);
}

/** The files that the answers of a conversation have written or read: a text that names one can link to it. */
export function knownFiles(messages: readonly Message[]): ReadonlySet<string> {
  const paths = messages.flatMap(({ parts }) => pathsOf(parts, /^(?:write|edit|read)_file$/));
  return new Set(paths.slice(-mostPaths));
}

function pathsOf(parts: readonly MessagePart[], tools: RegExp): string[] {
  const paths = parts.flatMap((part) => {
    if (part.type !== 'dynamic-tool' || part.state !== 'output-available' || !tools.test(part.toolName)) return [];
    return calledPath(part.input) ?? [];
  });
  return [...new Set(paths)];
}

/** The file that a file tool was called for. */
export function calledPath(input: unknown): string | undefined {
  const path: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, 'path') : undefined;
  return typeof path === 'string' ? homePath(path) : undefined;
}
