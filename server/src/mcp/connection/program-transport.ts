import type { Duplex } from 'node:stream';
import { ApiError } from '@homeport/contracts/errors';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { systemClock } from '../../platform/clock.ts';
import { findJsonExcess, foreignJsonBounds } from '../../platform/json/json-scan.ts';
import { mcpBounds } from '../bounds.ts';
import { BrokenBound } from './guarded-transport.ts';

/** A program to run as an MCP server, and how to start it. */
export type McpProgram = {
  open(signal: AbortSignal): Promise<Duplex>;
  /** Values that its last words must not contain. */
  secrets: readonly string[];
};

type ProgramEvents = { onBroken(error: BrokenBound): void; onFailure(error: unknown): void };

const lineFeed = 10;
const lineRoom = 4_096;
const endMark = '#exit ';
/** Characters of other output that are kept, to show what a program wrote instead of messages. */
const otherMax = 200;

/** JSON-RPC over a program's input and output, one message per line; other output is skipped. */
export class ProgramTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #stream: Duplex;
  readonly #events: ProgramEvents;
  readonly #secrets: readonly string[];
  /** Its first `#lineBytes` bytes are the line so far. */
  #line = Buffer.allocUnsafe(lineRoom);
  #lineBytes = 0;
  #count = 0;
  #windowStart = systemClock.elapsed();
  #isClosed = false;
  #hasSpoken = false;
  #other = '';

  constructor(stream: Duplex, secrets: readonly string[], events: ProgramEvents) {
    this.#stream = stream;
    this.#secrets = secrets;
    this.#events = events;
  }

  async start(): Promise<void> {
    this.#stream.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#stream.once('close', () => this.#end());
    this.#stream.once('end', () => this.#end());
    this.#stream.resume();
    if (this.#stream.destroyed) this.#end();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw ended('it has ended');
    await new Promise<void>((resolve) => {
      this.#stream.write(`${JSON.stringify(message)}\n`, () => resolve());
    });
  }

  async close(): Promise<void> {
    this.#end();
  }

  #read(chunk: Buffer): void {
    for (let from = 0; from < chunk.length && !this.#isClosed; ) {
      const feed = chunk.indexOf(lineFeed, from);
      const end = feed < 0 ? chunk.length : feed;
      const isTooLarge = this.#lineBytes + end - from > mcpBounds.messageBytes;
      if (!isTooLarge) this.#append(chunk.subarray(from, end));
      from = end + 1;
      const fault = isTooLarge ? 'one of its messages was too large' : feed < 0 ? undefined : this.#endLine();
      if (fault !== undefined) this.#break(fault);
    }
  }

  /**
   * A copy, however small the pieces are in which a program writes: each chunk of its own would cost a hundred bytes.
   */
  #append(piece: Buffer): void {
    const bytes = this.#lineBytes + piece.length;
    if (bytes > this.#line.length) {
      const larger = Buffer.allocUnsafe(Math.max(bytes, this.#line.length * 2));
      this.#line.copy(larger, 0, 0, this.#lineBytes);
      this.#line = larger;
    }
    piece.copy(this.#line, this.#lineBytes);
    this.#lineBytes = bytes;
  }

  /** Handles the line; returns what is wrong with it. */
  #endLine(): string | undefined {
    const bytes = this.#line.subarray(0, this.#lineBytes);
    this.#line = Buffer.allocUnsafe(lineRoom);
    this.#lineBytes = 0;
    if (bytes.length === 0) return undefined;
    if (this.#isTooFast()) return 'it sent too many messages';
    if (bytes.subarray(0, endMark.length).toString('latin1') === endMark) this.#hasEnded(bytes);
    const start = this.#startOfMessage(bytes);
    if (start > 0) this.#note(bytes.subarray(0, start));
    if (start === bytes.length) return undefined;
    const json = bytes.subarray(start);
    const excess = findJsonExcess(json, foreignJsonBounds);
    if (excess !== undefined) return `one of its messages was ${excess.reason}`;
    const message = parseMessage(json);
    if (message === undefined) this.#note(json);
    else {
      this.#hasSpoken = true;
      this.onmessage?.(message);
    }
    return undefined;
  }

  /**
   * The offset of the message in a line, or the line's length. A banner without a line feed, or a byte order mark, can
   * precede the first message; later, a line with other text is a log line, even if it quotes a message.
   */
  #startOfMessage(bytes: Buffer): number {
    if (bytes[0] === 0x7b) return 0;
    const start = this.#hasSpoken ? -1 : bytes.indexOf('{"');
    return start < 0 ? bytes.length : start;
  }

  /** The beginning of the output that was not messages, without the secret values. */
  get wrote(): string {
    const unfinished = this.#line.subarray(0, Math.min(this.#lineBytes, otherMax)).toString();
    const words = this.#withoutSecrets(this.#other + unfinished).replace(/[\p{Cc}\ufeff\s]+/gu, ' ');
    return words.trim().slice(0, otherMax);
  }

  #note(bytes: Buffer): void {
    if (this.#other.length < otherMax) this.#other += `${bytes.toString('utf8', 0, otherMax)} `;
  }

  #withoutSecrets(text: string): string {
    let plain = text;
    for (const secret of this.#secrets) if (secret.length > 3) plain = plain.replaceAll(secret, '…');
    return plain;
  }

  #isTooFast(): boolean {
    const now = systemClock.elapsed();
    if (now - this.#windowStart > 10_000) {
      this.#windowStart = now;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count > mcpBounds.eventsPer10s;
  }

  /**
   * The daemon's last line. The program's log is shown to its owner, without the secret values.
   */
  #hasEnded(bytes: Buffer): void {
    const { exitCode, signal, stderr } = parseEnd(bytes.subarray(endMark.length));
    const words = this.#withoutSecrets(stderr);
    const how = exitCode === null ? (signal ?? 'it could not be started') : `exit code ${exitCode}`;
    const tail = words.trim().slice(-mcpBounds.errorText);
    this.#events.onFailure(ended(`it ended (${how})${tail === '' ? '' : `: ${tail}`}`));
    this.#end();
  }

  #break(text: string): void {
    this.#events.onBroken(new BrokenBound(text));
    this.#end();
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stream.destroy();
    this.onclose?.();
  }
}

function ended(text: string): ApiError {
  return new ApiError('mcp_unreachable', `The MCP server could not be used: ${text}`, { details: { reason: 'ended' } });
}

function parseMessage(bytes: Buffer): JSONRPCMessage | undefined {
  try {
    const message = JSON.parse(bytes.toString('utf8'));
    return message.jsonrpc === '2.0' ? (message as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
}

function parseEnd(bytes: Buffer): { exitCode: number | null; signal: string | null; stderr: string } {
  try {
    const { exitCode, signal, stderr } = JSON.parse(bytes.toString('utf8'));
    return {
      exitCode: typeof exitCode === 'number' ? exitCode : null,
      signal: typeof signal === 'string' ? signal : null,
      stderr: typeof stderr === 'string' ? stderr : '',
    };
  } catch {
    return { exitCode: null, signal: null, stderr: '' };
  }
}
