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
};

/**
 * Lines `offset` and following of a file of the workspace; `binary` for what is no text. It is read no further than
 * needed.
 */
export async function readLines(
  daemon: Daemon,
  path: string,
  { offset, limit }: { offset: number; limit: number },
  signal: AbortSignal,
): Promise<ReadLines | 'binary'> {
  const answer = await daemon.request(`/v1/files/content?path=${encodeURIComponent(path)}`, { signal });
  const decoder = new TextDecoder();
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
      if (bytes === 0 && chunk.includes(0)) return 'binary';
      bytes += chunk.length;
      if (bytes > seenMax)
        throw new ApiError('payload_too_large', 'The file is too large to count its lines: use bash');
      for (const line of open.push(decoder.decode(chunk, { stream: true }))) {
        if (!take(line)) return { ...reading, isEnd: false };
      }
    }
    const rest = open.end();
    const isEnd = rest === '' || take(rest);
    return { ...reading, isEnd };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) throw error;
    throw new ApiError('workspace_request_failed', 'The workspace failed while the file was read', { cause: error });
  } finally {
    answer.body.destroy();
  }
}
