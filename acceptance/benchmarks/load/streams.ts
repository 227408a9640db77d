import { setTimeout as delay } from 'node:timers/promises';
import { Histogram } from '../statistics.ts';
import type { OpenStream, Script, Subject } from './subjects.ts';

/** Running streams, and their results while `isMeasuring`. */
export class Streams {
  readonly latencies = new Histogram();
  readonly open: OpenStream[] = [];
  tokens = 0;
  isMeasuring = false;
  readonly #subject: Subject;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  /** Opens `count` streams evenly over `overMs`; resolves with them when each has its first token. */
  async add(count: number, script: Script, overMs: number): Promise<OpenStream[]> {
    const beganAt = performance.now();
    const opening = Array.from({ length: count }, async (_, index) => {
      await delay(Math.max(0, beganAt + (index * overMs) / count - performance.now()));
      const stream = await this.#subject.open(script, (latencyMs) => this.#hear(latencyMs));
      this.open.push(stream);
      await stream.first;
      return stream;
    });
    return Promise.all(opening);
  }

  async finished(): Promise<void> {
    await Promise.all(this.open.map((stream) => stream.done));
  }

  #hear(latencyMs: number): void {
    this.tokens++;
    if (this.isMeasuring) this.latencies.add(latencyMs);
  }
}
