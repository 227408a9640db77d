import { beforeFirst } from '@homeport/contracts/text/trim-characters';
import { tunnelRequest } from '../../egress/outbound-proxy/tunnel-request.ts';
import type { Daemon } from '../daemon.ts';

/** An app's response to a single request of its page. */
export type PreviewLook = {
  status: number;
  contentType: string | undefined;
  title: string | undefined;
  location: string | undefined;
  /** The beginning of a text. */
  text: string | undefined;
};

const readMax = 256 * 1024;
const textLength = 2_000;
const titleLength = 200;
const wordLength = 200;

/** Asks the app for a path as a browser would, without following redirects. Throws like `Daemon.upgrade`. */
export async function lookAtPort(
  daemon: Pick<Daemon, 'upgrade'>,
  { port, path }: { port: number; path: string },
  signal: AbortSignal,
): Promise<PreviewLook> {
  const connection = await daemon.upgrade(`/v1/tunnel?port=${port}`, signal);
  try {
    const headers = { host: `localhost:${port}`, accept: 'text/html,*/*;q=0.8', 'user-agent': 'Homeport' };
    const wish = { method: 'GET', path: beforeFirst(path, '#'), headers, body: undefined, signal };
    const { head, upgraded } = await tunnelRequest(connection, wish);
    upgraded?.destroy();
    const contentType = head.headers['content-type']?.slice(0, wordLength);
    // A stream of events has no end that could be waited for.
    const isText = /^text\/(?!event-stream)|json|xml|javascript/i.test(contentType ?? '');
    const text = isText && upgraded === undefined ? await beginning(head) : undefined;
    const [, title] = /<title(?: [^<>]{0,100})?>([^<]{0,1000})/i.exec(text ?? '') ?? [];
    return {
      status: head.statusCode ?? 0,
      contentType,
      location: head.headers.location?.slice(0, textLength),
      title: title?.replace(/\s+/g, ' ').trim().slice(0, titleLength),
      text: text?.slice(0, textLength),
    };
  } finally {
    connection.destroy();
  }
}

/** Reads the beginning of a body: an app can send forever, or break off. */
async function beginning(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= readMax) break;
    }
  } catch {
    // The status has been read, which is what was asked for.
  }
  return Buffer.concat(chunks).toString('utf8', 0, readMax);
}
