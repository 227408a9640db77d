import workerAddress from './highlight.worker.ts?worker&url';
import type { HighlightAnswer, HighlightedLine, HighlightRequest } from './highlight-protocol.ts';
import { type GrammarName, grammarName } from './language-names.ts';

type Job = { request: HighlightRequest; resolve: (lines: HighlightedLine[] | null) => void };

/** Longest highlighted code, in characters; above it, highlighting takes too long. */
const maximumCode = 60_000;
/** A grammar that takes longer is stuck; its worker is ended. */
const patience = 15_000;
const keptResults = 60;

/** Highlights code in a worker, one block after the other. The worker starts with the first block. */
class Highlighter {
  #worker: Worker | undefined;
  #lastId = 0;
  #jobs: Job[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #results = new Map<string, Promise<HighlightedLine[] | null>>();

  /** The lines of `code`, or null if it stays uncolored. The same code is highlighted once. */
  highlight(code: string, language: string): Promise<HighlightedLine[] | null> {
    const grammar = grammarName(language);
    if (grammar === undefined || code.length > maximumCode) return Promise.resolve(null);
    const key = `${grammar}\n${code}`;
    const known = this.#results.get(key);
    const result = known ?? this.#enqueue(code, grammar);
    this.#results.delete(key);
    this.#results.set(key, result);
    const oldest = this.#results.keys().next().value;
    if (this.#results.size > keptResults && oldest !== undefined) this.#results.delete(oldest);
    return result;
  }

  #enqueue(code: string, grammar: GrammarName): Promise<HighlightedLine[] | null> {
    return new Promise((resolve) => {
      this.#lastId += 1;
      this.#jobs.push({ request: { id: this.#lastId, code, grammar }, resolve });
      if (this.#jobs.length === 1) this.#next();
    });
  }

  #next(): void {
    const job = this.#jobs[0];
    if (!job) return;
    this.#timer = setTimeout(() => this.#giveUp(), patience);
    try {
      this.#worker ??= this.#start();
      this.#worker.postMessage(job.request);
    } catch {
      this.#giveUp();
    }
  }

  #start(): Worker {
    const worker = new Worker(workerAddress, { type: 'module', name: 'highlighter' });
    worker.addEventListener('message', (event: MessageEvent<HighlightAnswer>) => this.#settle(event.data));
    worker.addEventListener('error', () => this.#giveUp());
    return worker;
  }

  #settle({ id, lines }: HighlightAnswer): void {
    const job = this.#jobs[0];
    if (job?.request.id !== id) return;
    clearTimeout(this.#timer);
    this.#jobs.shift();
    job.resolve(lines);
    this.#next();
  }

  /** Ends the worker; the next block gets a new one. */
  #giveUp(): void {
    clearTimeout(this.#timer);
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#jobs.shift()?.resolve(null);
    this.#next();
  }
}

export const highlighter = new Highlighter();
