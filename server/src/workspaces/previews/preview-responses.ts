import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Sends an app's response with these headers; resolves when all of it was passed on, and rejects when it was cut. */
export async function passResponse(
  head: IncomingMessage,
  outgoing: ServerResponse,
  headers: OutgoingHttpHeaders,
  onTraffic: () => void,
): Promise<void> {
  head.on('data', onTraffic);
  outgoing.writeHead(head.statusCode ?? 502, headers);
  // Streams of events begin long before their first event.
  outgoing.flushHeaders();
  await pipeline(head, outgoing);
}

/** The headers of a WebSocket handshake that are the app's to answer. */
const handshake = ['sec-websocket-accept', 'sec-websocket-protocol', 'sec-websocket-extensions'] as const;

/** Tells the browser that the app speaks WebSocket from here on. */
export function switchProtocols(socket: Duplex, headers: OutgoingHttpHeaders): void {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'connection: Upgrade', 'upgrade: websocket'];
  for (const name of handshake) if (typeof headers[name] === 'string') lines.push(`${name}: ${headers[name]}`);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
}

/** Refuses a handshake without a body, since browsers do not show its response. */
export function refuseUpgrade(socket: Duplex, status: number): void {
  if (socket.destroyed) return;
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
  // A client that does not close its half cannot keep the socket open.
  socket.end(text, () => socket.destroy());
}
