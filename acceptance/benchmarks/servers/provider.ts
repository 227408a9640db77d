import { createServer, type Socket } from 'node:net';
import { monotonicMs, stamp } from '../load/monotonic.ts';
import { ending, tokenEvent } from './provider-events.ts';

/**
 * A scripted provider of chat completions: raw sockets and one timer, to cost little of the core it shares. The last
 * message controls its behavior: `bench(<id>,<tokens>,<per second>,<hold>)`. Each token is the time of its sending; 0
 * per second is as fast as the connection takes them; hold keeps the answer open at its end.
 */
export type ProviderNews =
  | { kind: 'ready'; port: number }
  | { kind: 'asked'; id: string; at: number; messages: number; bytes: number }
  | { kind: 'aborted'; id: string; at: number };

type Answer = {
  id: string;
  left: number;
  everyMs: number;
  dueMs: number;
  hold: boolean;
  finished: boolean;
  socket: Socket;
};

const head =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n' +
  'transfer-encoding: chunked\r\n\r\n';
/** Tokens per write without pacing: as many as one socket read takes (64 kB). */
const burst = 250;
const script = /bench\(([\w-]+),(\d+),(\d+),(\d)\)/g;

const slots: Answer[][] = Array.from({ length: 1024 }, () => []);
let tickedMs = Math.floor(monotonicMs());

function tick(): void {
  const nowMs = Math.floor(monotonicMs());
  while (tickedMs < nowMs) {
    tickedMs++;
    const slot = slots[tickedMs & 1023] ?? [];
    if (slot.length === 0) continue;
    slots[tickedMs & 1023] = [];
    for (const answer of slot) sendPaced(answer);
  }
  setTimeout(tick, 1);
}

function sendPaced(answer: Answer): void {
  if (answer.finished || answer.socket.destroyed) return;
  answer.left--;
  answer.dueMs += answer.everyMs;
  const token = tokenEvent(stamp(monotonicMs()));
  if (answer.left > 0 || answer.hold) {
    answer.socket.write(token, 'latin1');
    if (answer.left > 0) schedule(answer);
  } else {
    answer.socket.write(token + ending, 'latin1');
    running.delete(answer.socket);
  }
}

/** No pace is slower than one token a second, so a slot contains answers of one round only. */
function schedule(answer: Answer): void {
  const at = Math.max(tickedMs + 1, Math.floor(answer.dueMs));
  slots[at & 1023]?.push(answer);
}

function sendUnpaced(answer: Answer): void {
  while (!answer.finished && !answer.socket.destroyed) {
    const count = Math.min(burst, answer.left);
    answer.left -= count;
    const token = tokenEvent(stamp(monotonicMs()));
    if (answer.left === 0) {
      answer.socket.write(token.repeat(count) + ending, 'latin1');
      running.delete(answer.socket);
      return;
    }
    if (!answer.socket.write(token.repeat(count), 'latin1')) {
      answer.socket.once('drain', () => sendUnpaced(answer));
      return;
    }
  }
}

const running = new Map<Socket, Answer>();

function answerRequest(socket: Socket, requestHead: string, body: Buffer): void {
  if (requestHead.startsWith('GET ')) {
    const models = JSON.stringify({ object: 'list', data: [{ id: 'bench', object: 'model' }] });
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${models.length}\r\n\r\n${models}`,
    );
    return;
  }
  const text = body.toString('latin1');
  const [, id = 'none', tokens = '1', rate = '0', hold = '0'] = [...text.matchAll(script)].at(-1) ?? [];
  const nowMs = monotonicMs();
  const everyMs = rate === '0' ? 0 : 1000 / Number(rate);
  const paced = { left: Number(tokens), everyMs, dueMs: nowMs };
  const answer = { id, ...paced, hold: hold === '1', finished: false, socket };
  running.set(socket, answer);
  socket.write(head, 'latin1');
  if (everyMs === 0) sendUnpaced(answer);
  else sendPaced(answer);
  const messages = text.split('"role":').length - 1;
  tell({ kind: 'asked', id, at: nowMs, messages, bytes: body.length });
}

const server = createServer({ noDelay: true }, (socket) => {
  let waiting: Buffer = Buffer.alloc(0);
  socket.on('data', (data) => {
    waiting = waiting.length === 0 ? data : Buffer.concat([waiting, data]);
    while (true) {
      const headEnd = waiting.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const requestHead = waiting.toString('latin1', 0, headEnd);
      const length = Number(/^content-length: *(\d+)/im.exec(requestHead)?.[1] ?? 0);
      if (waiting.length < headEnd + 4 + length) return;
      const body = waiting.subarray(headEnd + 4, headEnd + 4 + length);
      waiting = waiting.subarray(headEnd + 4 + length);
      answerRequest(socket, requestHead, body);
    }
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    const answer = running.get(socket);
    if (answer === undefined) return;
    running.delete(socket);
    tell({ kind: 'aborted', id: answer.id, at: monotonicMs() });
  });
});

function tell(news: ProviderNews): void {
  process.send?.(news);
}

server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 }, () => {
  const address = server.address();
  tell({ kind: 'ready', port: typeof address === 'object' && address !== null ? address.port : 0 });
});
/** Ends all answers now, properly. */
process.on('message', (message) => {
  if (message !== 'finish-all') return;
  for (const answer of running.values()) {
    answer.left = 0;
    answer.finished = true;
    answer.socket.write(ending, 'latin1');
  }
  running.clear();
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
tick();
