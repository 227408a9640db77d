import { ApiError } from '@homeport/contracts/errors';
import type { Daemon } from '../../../workspaces/daemon.ts';
import { TextLines } from '../text-lines.ts';

/** Text that one answer holds at most, and how far into a file lines are counted. */
const textMax = 128 * 1024;
const seenMax = 256 * 1024 * 1024;
/** Maximum number of characters kept of one line. */
const lineMax = 16 * 1024;

export type ReadLines = {
  lines: string[];
  /** How many lines were seen. */
  seen: number;
  /** The file ends with these lines. */
  isEnd: boolean;
  encoding: Encoding;
};

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
type Range = { offset: number; limit: number; reader: string };

/** Control characters that no text has, beside tab, line breaks, form feed and escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they tell binary data.
const binary = /[\u0000-\u0007\u000e-\u001a\u001c-\u001f]/;

/**
 * Lines `offset` and following of a file of the workspace; `binary` for what is no text. It is read no further than
 * needed. Text that is not UTF-8 or UTF-16 is taken for windows-1252, as when the daemon edits it.
 */
export async function readLines(
  daemon: Daemon,
  path: string,
  range: Range,
  signal: AbortSignal,
): Promise<ReadLines | 'binary'> {
  const read = await readAs(daemon, path, range, signal, undefined);
  return read === 'other'
    ? ((await readAs(daemon, path, range, signal, 'windows-1252')) as ReadLines | 'binary')
    : read;
}

/** `other`: the bytes are not UTF-8. Without an encoding, a byte order mark tells it. */
async function readAs(
  daemon: Daemon,
  path: string,
  { offset, limit, reader }: Range,
  signal: AbortSignal,
  given: Encoding | undefined,
): Promise<ReadLines | 'binary' | 'other'> {
  const query = new URLSearchParams({ path, reader });
  const answer = await daemon.request(`/v1/files/content?${query}`, { signal });
  let encoding = given ?? 'utf-8';
  let decoder = new TextDecoder(encoding, { fatal: true });
  const open = new TextLines(lineMax);
  const reading = { lines: [] as string[], seen: 0, characters: 0 };
  const take = (line: string): boolean => {
    reading.seen += 1;
    if (reading.seen < offset) return true;
    if (reading.lines.length === limit || reading.characters > textMax) return false;
    reading.lines.push(line.endsWith('\r') ? line.slice(0, -1) : line);
    reading.characters += Math.min(line.length, lineMax);
    return true;
  };
  let bytes = 0;
  try {
    if (answer.status !== 200) throw new ApiError('not_found', 'The file cannot be read');
    for await (const chunk of answer.body) {
      if (bytes === 0) {
        encoding = markedEncoding(chunk) ?? encoding;
        decoder = new TextDecoder(encoding, { fatal: true });
      }
      const text = decodeNext(decoder, chunk);
      if (text === undefined) return given === undefined && encoding === 'utf-8' ? 'other' : 'binary';
      if (bytes === 0 && binary.test(text)) return 'binary';
      bytes += chunk.length;
      if (bytes > seenMax)
        throw new ApiError('payload_too_large', 'The file is too large to count its lines: use bash');
      for (const line of open.push(text)) {
        if (!take(line)) return { ...reading, isEnd: false, encoding };
      }
    }
    const last = decodeNext(decoder);
    if (last === undefined) return given === undefined && encoding === 'utf-8' ? 'other' : 'binary';
    open.push(last);
    const rest = open.end();
    const isEnd = rest === '' || take(rest);
    return { ...reading, isEnd, encoding };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) throw error;
    throw new ApiError('workspace_request_failed', 'The workspace failed while the file was read', { cause: error });
  } finally {
    answer.body.destroy();
  }
}

function markedEncoding(start: Uint8Array): Encoding | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  return start[0] === 0xfe && start[1] === 0xff ? 'utf-16be' : undefined;
}

/** The next text, or the end of it; undefined for bytes that the encoding does not allow. */
function decodeNext(decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string | undefined {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined });
  } catch {
    return undefined;
  }
}
