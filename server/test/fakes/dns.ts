import dgram from 'node:dgram';
import { isIPv6 } from 'node:net';

/** A name's answers, or a list of answers that are used one after the other, one per question (DNS rebinding). */
export type Zone = Map<string, string[] | string[][]>;

const typeA = 1;
const typeAaaa = 28;

/** A DNS server on 127.0.0.1:53 that resolves `zone` and nothing else; every answer has TTL 0. */
export async function startDns(zone: Zone): Promise<{ close(): void }> {
  const asked = new Map<string, number>();
  const socket = dgram.createSocket('udp4');
  socket.on('message', (query, from) => {
    const answer = respond(zone, asked, query);
    if (answer !== undefined) socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(53, '127.0.0.1', resolve);
  });
  return { close: () => socket.close() };
}

function respond(zone: Zone, asked: Map<string, number>, query: Buffer): Buffer | undefined {
  const question = readQuestion(query);
  if (question === undefined) return undefined;
  const records = zone.get(question.name);
  const answers = records === undefined ? [] : pick(records, asked, question.name, question.type);
  const matching = answers.filter((address) => (isIPv6(address) ? typeAaaa : typeA) === question.type);
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(records === undefined ? 0x8583 : 0x8580, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(matching.length, 6);
  return Buffer.concat([
    header,
    query.subarray(12, question.end),
    ...matching.map((address) => record(question.type, address)),
  ]);
}

function pick(records: string[] | string[][], asked: Map<string, number>, name: string, type: number): string[] {
  const turns = records.filter((entry) => Array.isArray(entry));
  if (turns.length === 0) return records.flat();
  const turn = asked.get(name) ?? 0;
  if (type === typeA) asked.set(name, turn + 1);
  return turns[turn % turns.length] ?? [];
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } | undefined {
  const labels: string[] = [];
  let offset = 12;
  while (offset < query.length) {
    const length = query[offset] ?? 0;
    offset += 1;
    if (length === 0) break;
    labels.push(query.toString('latin1', offset, offset + length));
    offset += length;
  }
  if (offset + 4 > query.length) return undefined;
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(offset), end: offset + 4 };
}

function record(type: number, address: string): Buffer {
  const data = type === typeA ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}

function ipv6Bytes(address: string): Buffer {
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [a = 0, b = 0, c = 0, d = 0] = dotted?.slice(1).map(Number) ?? [];
  const hex =
    dotted === null
      ? address
      : `${address.slice(0, dotted.index)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  const [left = '', right = ''] = hex.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === '' ? [] : right.split(':');
  const middle: string[] = Array(8 - head.length - tail.length).fill('0');
  const bytes = Buffer.alloc(16);
  [...head, ...middle, ...tail].forEach((group, index) => {
    bytes.writeUInt16BE(Number.parseInt(group, 16), index * 2);
  });
  return bytes;
}
