import type { IncomingMessage } from 'node:http';
import type { Upload } from '../handler.ts';
import { ChunkQueue } from './chunk-queue.ts';
import { fileTooLarge, watchBody } from './incoming-body.ts';

/**
 * A body that is one file of any type, not read yet. Throws `payload_too_large` by its declared size. So does reading
 * if there are more bytes, and `invalid_request` if the request breaks off or falls silent.
 */
export function openUpload(incoming: IncomingMessage, maxBytes: number): Upload {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) throw fileTooLarge(maxBytes);
  return { mediaType: incoming.headers['content-type'], bytes: receive(incoming, maxBytes) };
}

async function* receive(incoming: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  // Before the queue's own listeners, so that this error about a broken request comes first.
  const stopWatching = watchBody(incoming, (error) => queue.fail(error));
  const queue = new ChunkQueue(incoming);
  let size = 0;
  try {
    for await (const chunk of queue) {
      size += chunk.length;
      if (size > maxBytes) throw fileTooLarge(maxBytes);
      yield chunk;
    }
  } finally {
    stopWatching();
  }
}
