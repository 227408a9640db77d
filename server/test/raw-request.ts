import { connect } from 'node:net';

/** Sends a request line and headers exactly as written, which no HTTP client does; resolves with the whole answer. */
export function sendRaw(url: string, request: string): Promise<{ status: number; head: string; body: string }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setTimeout(10_000, () => socket.destroy(new Error('No answer within 10 s')));
    socket.on('error', reject);
    socket.on('data', (data) => {
      text += data.toString('latin1');
    });
    socket.on('close', () => {
      const end = text.indexOf('\r\n\r\n');
      const head = end < 0 ? text : text.slice(0, end);
      resolve({
        status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]),
        head,
        body: end < 0 ? '' : text.slice(end + 4),
      });
    });
    socket.write(request, 'latin1');
  });
}
