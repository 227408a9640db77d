import { type IncomingMessage, request } from 'node:http';

type PlainInit = { method: string; headers: Record<string, string>; body: string; signal: AbortSignal };
type PlainBody = AsyncIterable<Uint8Array> & {
  pump?(onChunk: (chunk: Uint8Array) => void): Promise<void>;
  destroy(): void;
};

/** A request on loopback without any guard, in the shape of the outbound guard; `plain` leaves out `pump`. */
export function requestLoopback(style: 'pump' | 'plain') {
  return (
    url: string,
    init: PlainInit,
  ): Promise<{ status: number; headers: Record<string, string>; body: PlainBody }> =>
    new Promise((resolve, reject) => {
      const { method, headers, signal } = init;
      const call = request(url, { method, headers, signal }, (response) => {
        const answered: Record<string, string> = {};
        for (const [name, value] of Object.entries(response.headers)) answered[name] = String(value);
        resolve({ status: response.statusCode ?? 0, headers: answered, body: bodyOf(response, style) });
      });
      call.on('error', reject);
      call.end(init.body);
    });
}

function bodyOf(response: IncomingMessage, style: 'pump' | 'plain'): PlainBody {
  const body: PlainBody = {
    [Symbol.asyncIterator]: () => response[Symbol.asyncIterator](),
    destroy: () => void response.destroy(),
  };
  if (style === 'plain') return body;
  body.pump = (onChunk) =>
    new Promise((resolve, reject) => {
      response.on('data', onChunk);
      response.on('end', resolve);
      response.on('error', reject);
      response.on('close', () => reject(new Error('closed')));
    });
  return body;
}
