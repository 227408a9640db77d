import { type JobLimits, ParseFailure } from '../sandbox/child.ts';
import { type Job, ParseRefused, type Sandbox } from '../sandbox/sandbox.ts';
import { checkItem, checkMessages } from './import-answers.ts';
import type { PreparedItem } from './prepare.ts';
import { ImportRefused, importBounds } from './readers/read-conversation.ts';

/** The input of the task in import-task.ts, its requests, and its answers. */
export type ImportInput = { ownerId: string; email: string };
export type ImportQuestion = 'next' | 'messages' | 'chunk' | { entry: string };
export type ImportAnswer =
  | { item: PreparedItem | null; more: number }
  | { messages: unknown[] }
  | { size: number | null }
  | { chunk: Uint8Array | null }
  | { isDamaged: true };

const damaged = 'Reading the archive failed: it is damaged.';
const tooMuch = 'Reading the archive failed: it needs too much memory.';
const tooLong = 'Reading the archive failed: it takes too long.';
const mebibyte = 1024 * 1024;

/** An entry of the archive that ends in the middle or does not unpack. */
export class EntryDamaged extends Error {}

type ImportLimits = Pick<JobLimits, 'heapMb' | 'stepMs' | 'cpuMs'>;

/** An archive that is read in a child process. Throws ImportRefused with words for the person. */
export class ImportReader {
  readonly #job: Job;

  private constructor(job: Job) {
    this.#job = job;
  }

  /** `path` is a file on this machine. Throws the signal's reason, and ParseFailure for what the archive didn't cause. */
  static async open(
    sandbox: Sandbox,
    input: ImportInput & { path: string },
    signal: AbortSignal,
    bounds: ImportLimits = importBounds,
  ): Promise<ImportReader> {
    const { path, ...rest } = input;
    const limits = limitsOf(bounds);
    return new ImportReader(await inWords(() => sandbox.open('import', rest, { limits, signal, file: path })));
  }

  /** The items in order. Files are read while the consumer holds an item. */
  async *items(): AsyncGenerator<PreparedItem, void> {
    for (;;) {
      const answer = await this.#ask('next');
      if (!('item' in answer)) throw new ImportRefused(damaged);
      if (answer.item === null) return;
      const item = checkItem(answer.item);
      if (item === undefined) throw new ImportRefused(damaged);
      if (item.kind === 'conversation') {
        while (item.messages.length < Math.min(Number(answer.more), importBounds.nodes)) {
          const batch = checkMessages(await this.#ask('messages'), item.chat.id);
          if (batch === undefined || batch.length === 0) throw new ImportRefused(damaged);
          for (const message of batch) item.messages.push(message);
        }
      }
      yield item;
    }
  }

  /** The bytes of an entry; undefined if there is none, or it says that it is larger than `most`. */
  async read(entry: string, most: number): Promise<AsyncIterable<Buffer> | undefined> {
    const answer = await this.#ask({ entry });
    if (!('size' in answer) || typeof answer.size !== 'number' || answer.size > most) return undefined;
    return this.#chunks(most);
  }

  /** Undefined for an entry that is missing, damaged or too large. */
  async readWhole(entry: string, most: number): Promise<Buffer | undefined> {
    try {
      const chunks: Buffer[] = [];
      const bytes = await this.read(entry, most);
      if (bytes === undefined) return undefined;
      for await (const chunk of bytes) chunks.push(chunk);
      return Buffer.concat(chunks);
    } catch (error) {
      if (error instanceof EntryDamaged) return undefined;
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#job.close();
  }

  /** Throws EntryDamaged, also for an entry with more bytes than it may have. */
  async *#chunks(most: number): AsyncGenerator<Buffer, void> {
    for (let left = most; ; ) {
      const answer = await this.#ask('chunk');
      if (!('chunk' in answer)) throw new EntryDamaged('The entry is damaged');
      if (!(answer.chunk instanceof Uint8Array)) return;
      left -= answer.chunk.length;
      if (left < 0) throw new EntryDamaged('The entry is larger than it says');
      yield Buffer.from(answer.chunk.buffer, answer.chunk.byteOffset, answer.chunk.byteLength);
    }
  }

  #ask(question: ImportQuestion): Promise<ImportAnswer> {
    return inWords(async () => {
      const answer = await this.#job.ask(question);
      if (typeof answer !== 'object' || answer === null) throw new ImportRefused(damaged);
      return answer as ImportAnswer;
    });
  }
}

/** The archive took too long; the person's next ones get less time. */
export class ImportTooSlow extends ImportRefused {}

function limitsOf({ heapMb, stepMs, cpuMs }: ImportLimits): JobLimits {
  return { heapMb, memoryBytes: heapMb * 2 * mebibyte, stepMs, cpuMs };
}

async function inWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ParseRefused) throw new ImportRefused(String(error.data).slice(0, 1_000));
    if (!(error instanceof ParseFailure)) throw error;
    if (error.reason === 'memory') throw new ImportRefused(tooMuch);
    if (error.reason === 'time') throw new ImportTooSlow(tooLong);
    if (error.reason === 'failed') throw new ImportRefused(damaged, { cause: error });
    throw error;
  }
}
