import type { Readable } from 'node:stream';
import { type Task, TaskRefused } from '../sandbox/serve.ts';
import { type Archive, openArchive, ZipArchive } from './archive.ts';
import { nameFiles } from './file-types.ts';
import type { ImportAnswer, ImportInput, ImportQuestion } from './import-reader.ts';
import { type PreparedConversation, type PreparedItem, prepare } from './prepare.ts';
import { readArchive } from './readers/read-archive.ts';
import { ImportRefused } from './readers/read-conversation.ts';

const batchBytes = 1_000_000;
const batchMessages = 500;

/** Reads one archive in a child process: item by item, and the files in it when they are asked for. */
export const importTask: Task = async (input, file) => {
  if (file === undefined) throw new Error('an import reads a file');
  const { ownerId, email } = input as ImportInput;
  const run = new ImportRun(await refusing(openArchive(file)), ownerId, email);
  return {
    ask: (question) => refusing(run.answer(question as ImportQuestion)),
    close: () => run.close(),
  };
};

async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ImportRefused ? new TaskRefused(error.message) : error;
  }
}

class ImportRun {
  readonly #archive: Archive;
  readonly #items: AsyncGenerator<PreparedItem, void>;
  #messages: PreparedConversation['messages'] = [];
  #stream: AsyncIterator<unknown> | undefined;
  #source: Readable | undefined;

  constructor(archive: Archive, ownerId: string, email: string) {
    this.#archive = archive;
    this.#items = read(archive, ownerId, email);
  }

  async answer(question: ImportQuestion): Promise<ImportAnswer> {
    if (question === 'next') return this.#next();
    if (question === 'messages') return { messages: this.#takeMessages() };
    if (question === 'chunk') return this.#chunk();
    return this.#open(question.entry);
  }

  close(): void {
    this.#source?.destroy();
    this.#archive.close();
  }

  /** Long conversations come in pieces, so that none holds up the service when it is unpacked there. */
  async #next(): Promise<ImportAnswer> {
    const { done, value } = await this.#items.next();
    if (done === true) return { item: null, more: 0 };
    if (value.kind !== 'conversation') return { item: value, more: 0 };
    this.#messages = value.messages;
    return { item: { ...value, messages: [] }, more: value.messages.length };
  }

  #takeMessages(): PreparedConversation['messages'] {
    let count = 0;
    let bytes = 0;
    for (const { parts, words } of this.#messages) {
      if (count === batchMessages || (bytes > batchBytes && count > 0)) break;
      bytes += parts.length + words.length;
      count += 1;
    }
    return this.#messages.splice(0, count);
  }

  async #open(entry: string): Promise<ImportAnswer> {
    this.#source?.destroy();
    this.#source = undefined;
    this.#stream = undefined;
    if (!(this.#archive instanceof ZipArchive) || !this.#archive.has(entry)) return { size: null };
    const size = this.#archive.sizeOf(entry);
    try {
      this.#source = await this.#archive.read(entry);
      this.#stream = this.#source[Symbol.asyncIterator]();
    } catch {
      // Its first piece says that it is damaged.
    }
    return { size };
  }

  async #chunk(): Promise<ImportAnswer> {
    if (this.#stream === undefined) return { isDamaged: true };
    try {
      const { done, value } = await this.#stream.next();
      return { chunk: done === true ? null : Buffer.from(value as Uint8Array) };
    } catch {
      return { isDamaged: true };
    }
  }
}

async function* read(archive: Archive, ownerId: string, email: string): AsyncGenerator<PreparedItem, void> {
  for await (const item of readArchive(archive, email)) yield prepare(await nameFiles(item, archive), ownerId);
}
