import { connect } from 'node:net';
import fc from 'fast-check';

/** Bytes on a socket that no HTTP client would send. */

const idleMs = 250;
const patienceMs = 30_000;

const host = 'host: localhost\r\n';
const get = (extra = '', path = '/api/health') => `GET ${path} HTTP/1.1\r\n${host}${extra}\r\n`;
const post = (extra: string, body: string) =>
  `POST /api/chats HTTP/1.1\r\n${host}content-type: application/json\r\n${extra}\r\n${body}`;
const many = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('');

const forms: string[] = [
  ...[
    'GET\r\n\r\n',
    'GET /api/health\r\n\r\n',
    'GET /api/health HTTP/9.9\r\n\r\n',
    'GET  /api/health  HTTP/1.1\r\n\r\n',
  ],
  ...['\r\n\r\n\r\n', '\0\0\0\0', ' GET / HTTP/1.1\r\n\r\n', 'get /api/health HTTP/1.1\r\nhost: x\r\n\r\n'],
  ...['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03', 'SSH-2.0-OpenSSH_9.0\r\n'],
  ...[
    'GET /api/health HTTP/1.1\r\n\r\n',
    'GET /api/health HTTP/1.0\r\n\r\n',
    'GET /api/health HTTP/1.1\r\nhost:\r\n\r\n',
  ],
  get('host: other\r\n'),
  get('no colon here\r\n'),
  get(': no name\r\n'),
  get('folded: a\r\n b\r\n'),
  get('space : a\r\n'),
  get('nul: a\0b\r\n'),
  get('return: a\rb\r\n'),
  get('high: \xff\xfe\r\n'),
  get(`huge: ${'x'.repeat(17_000)}\r\n`),
  get(many(1_500, (index) => `h${index}: x\r\n`)),
  get(many(3_000, () => 'a:\r\n')),
  get(`cookie: ${'a=b; '.repeat(3_000)}\r\n`),
  get('', `/api/health?${'x'.repeat(15_000)}`),
  get('', `/api/${'a/'.repeat(5_000)}`),
  get('', '/api/%zz'),
  get('', '/api/\xc3\xa9'),
  get('', '/api/health\\..\\me'),
  get('', '//[/../../api/me'),
  get('', 'http://'),
  get('', 'http://[/api/me'),
  get('', 'https://localhost:99999/api/me'),
  get('', '*'),
  get('', 'api/health'),
  `${get('content-length: 5\r\n')}hello`,
  get('connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\n'),
  get('connection: upgrade\r\nupgrade: h2c\r\n'),
  get('expect: 200-ok\r\n'),
  'CONNECT localhost:443 HTTP/1.1\r\nhost: localhost:443\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nhost: localhost\r\n\r\n',
  post('content-length: 2\r\n', '{}'),
  post('content-length: 2\r\ncontent-length: 3\r\n', '{}'),
  post('content-length: 2, 2\r\n', '{}'),
  post('content-length: -1\r\n', '{}'),
  post('content-length: 0x2\r\n', '{}'),
  post('content-length: 99999999999999999999\r\n', '{}'),
  post('content-length: 9999999999\r\n', '{}'),
  post('content-length: 100\r\n', '{}'),
  post('content-length: 2\r\ntransfer-encoding: chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  post('transfer-encoding: chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  post('transfer-encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n'),
  post('transfer-encoding: chunked\r\n', '-2\r\n{}\r\n0\r\n\r\n'),
  post('transfer-encoding: chunked\r\n', 'ffffffffffffffffff\r\n{}\r\n'),
  post('transfer-encoding: chunked\r\n', '2\r\n{}0\r\n\r\n'),
  post('transfer-encoding: chunked\r\n', `2;${'x'.repeat(17_000)}\r\n{}\r\n0\r\n\r\n`),
  post('transfer-encoding: chunked\r\n', `${many(2_000, () => '1\r\n \r\n')}0\r\n\r\n`),
  post('transfer-encoding: chunked\r\n', '2\r\n{}\r\n0\r\nx-trailer: y\r\n\r\n'),
  post('transfer-encoding: gzip, chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  post('transfer-encoding: identity\r\n', '{}'),
  post('transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  post('transfer-encoding:\x0bchunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  post('content-length: 2\r\nexpect: 100-continue\r\n', '{}'),
  get().repeat(20),
  `${get().repeat(3)}garbage\r\n\r\n`,
  `${get('', '/api/docs/swagger-ui-bundle.js') + get()}\0`,
  post('content-length: 2\r\n', '{}') + get(),
  `${get().slice(0, -4)}\n\n`,
];

/** One of the forms, intact or with bytes changed, cut or doubled. */
export function rawRequests(): fc.Arbitrary<Buffer> {
  const form = fc.constantFrom(...forms).map((text) => Buffer.from(text, 'latin1'));
  const damage = fc.record({ at: fc.nat(), byte: fc.nat(255), how: fc.nat(3) });
  return fc.tuple(form, fc.array(damage, { maxLength: 3 })).map(([bytes, damages]) => {
    let result: Buffer = bytes;
    for (const { at, byte, how } of damages) result = damaged(result, at % Math.max(1, result.length), byte, how);
    return result;
  });
}

function damaged(bytes: Buffer<ArrayBufferLike>, at: number, byte: number, how: number): Buffer {
  if (how === 0) return bytes.subarray(0, at);
  if (how === 1) return Buffer.concat([bytes.subarray(0, at), bytes]);
  const copy = Buffer.from(bytes);
  if (how === 2) return Buffer.concat([copy.subarray(0, at), Buffer.from([byte]), copy.subarray(at)]);
  if (copy.length > 0) copy[at] = byte;
  return copy;
}

/**
 * Writes the bytes, closes its side, and resolves with all that came back. A server that neither answers nor closes
 * rejects.
 */
export function sendBytes(url: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const chunks: Buffer[] = [];
    const patience = setTimeout(() => socket.destroy(new Error('The connection was left open')), patienceMs);
    socket.setTimeout(idleMs, () => socket.end());
    socket.on('data', (data: Buffer) => chunks.push(data));
    // The server can close before the whole request is written.
    socket.on('error', (error: Error & { code?: string }) => {
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
    });
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      clearTimeout(patience);
      resolve(Buffer.concat(chunks).toString('latin1'));
    });
    socket.write(bytes, () => socket.end());
  });
}
