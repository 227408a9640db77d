import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Pinned } from './processes.ts';

type CallFrame = { functionName: string; url: string; lineNumber: number; columnNumber: number };
export type CpuProfile = {
  nodes: { id: number; callFrame: CallFrame }[];
  samples: number[];
  timeDeltas: number[];
};

/**
 * The inspector of a Node process started with `--inspect-port=127.0.0.1:0`: it opens on a signal, so that the measured
 * program needs nothing for it.
 */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', (event) => {
      const message = parseMessage(String(event.data));
      const waiting = this.#waiting.get(message.id ?? 0);
      this.#waiting.delete(message.id ?? 0);
      if (message.error === undefined) waiting?.resolve(message.result);
      else waiting?.reject(new Error(JSON.stringify(message.error)));
    });
  }

  static async attach(target: Pinned): Promise<Inspector> {
    if (!target.output().includes('Debugger listening on')) target.child.kill('SIGUSR1');
    const [, url = ''] = await target.waitForOutput(/Debugger listening on (ws:\S+)/);
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', reject, { once: true });
    });
    return new Inspector(socket);
  }

  collectGarbage(): Promise<unknown> {
    return this.#call('HeapProfiler.collectGarbage');
  }

  async startProfile(): Promise<void> {
    await this.#call('Profiler.enable');
    await this.#call('Profiler.setSamplingInterval', { interval: 200 });
    await this.#call('Profiler.start');
  }

  async stopProfile(): Promise<CpuProfile> {
    const result = await this.#call('Profiler.stop');
    this.#socket.close();
    return parseProfile(result);
  }

  close(): void {
    this.#socket.close();
  }

  #call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    this.#socket.send(JSON.stringify({ id, method, params }));
    return answer.promise;
  }
}

const shownLines = 45;

/** The functions with most self time, named in their source when there is a source map. */
export function summarise(profile: CpuProfile): string {
  const frames = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const times = new Map<string, number>();
  let total = 0;
  profile.samples.forEach((sample, index) => {
    const frame = frames.get(sample);
    const micros = profile.timeDeltas[index] ?? 0;
    if (frame === undefined || frame.functionName === '(idle)') return;
    total += micros;
    const name = placeOf(frame);
    times.set(name, (times.get(name) ?? 0) + micros);
  });
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, shownLines)
    .map(([name, micros]) => `${((100 * micros) / total).toFixed(1).padStart(6)} %  ${name}`)
    .join('\n');
}

const maps = new Map<string, SourceMap | undefined>();

function placeOf(frame: CallFrame): string {
  const name = frame.functionName === '' ? '(anonymous)' : frame.functionName;
  if (!frame.url.startsWith('file:')) return frame.url === '' ? name : `${name}  ${frame.url}:${frame.lineNumber + 1}`;
  const entry = mapOf(frame.url)?.findEntry(frame.lineNumber, frame.columnNumber);
  if (entry === undefined || !('originalSource' in entry)) return `${name}  ${frame.url}:${frame.lineNumber + 1}`;
  return `${name}  ${entry.originalSource.replace(/^(\.\.\/)+/, '')}:${entry.originalLine + 1}`;
}

function mapOf(url: string): SourceMap | undefined {
  if (maps.has(url)) return maps.get(url);
  let map: SourceMap | undefined;
  try {
    map = new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')));
  } catch {
    map = undefined;
  }
  maps.set(url, map);
  return map;
}

function parseMessage(text: string): { id?: number; result?: unknown; error?: unknown } {
  return JSON.parse(text) as { id?: number; result?: unknown; error?: unknown };
}

function parseProfile(result: unknown): CpuProfile {
  return (result as { profile: CpuProfile }).profile;
}
