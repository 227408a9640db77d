import { Worker } from 'node:worker_threads';
import type { ModelTier } from '@homeport/contracts/catalogue';
import type { SentBytes } from '@homeport/contracts/endpoint';
import { ApiError, type ErrorCode } from '@homeport/contracts/errors';
import type {
  ManifestAssistant,
  ManifestHead,
  ManifestPrompt,
  ManifestProvider,
  ManifestUser,
} from '@homeport/contracts/manifest';
import type { Config } from '../config.ts';
import type { ImportedChat } from '../conversations/imported-chats.ts';
import type { ImportedMessage } from '../conversations/messages.ts';
import type { ManifestForm } from './manifest-text.ts';

/** What the thread of manifest-worker.ts is given, asked, and answers. */
export type WorkerInput = { bytes: Uint8Array; form: ManifestForm; edition: Config['edition'] };
export type BatchKind = 'users' | 'catalogues' | 'assistants' | 'prompts' | 'conversations';
export type Question = { kind: BatchKind; from: number };
export type Answer =
  | { head: ManifestHead }
  | { batch: Batch }
  | { refused: { code: ErrorCode; message: string; details: unknown } };

/** `index` is the position in `users`. */
export type AccountEntry = Omit<ManifestUser, 'modelTiers' | 'providers'> & { index: number };
/** `index` is the place in its list. */
export type AssistantEntry = ManifestAssistant & { index: number };
export type PromptEntry = ManifestPrompt & { index: number };
/** One catalogue; `path` leads to its members in the manifest, `email` is null for the installation's. */
export type CatalogueEntry = {
  path: string;
  email: string | null;
  modelTiers: ModelTier[] | undefined;
  providers: ManifestProvider[] | undefined;
};
export type Batch = {
  users: AccountEntry[];
  catalogues: CatalogueEntry[];
  assistants: AssistantEntry[];
  prompts: PromptEntry[];
  chats: ImportedChat[];
  messages: ImportedMessage[];
  next: number | null;
};

const readTimeoutMs = 120_000;
// A manifest of 64 MiB needs about 500 MB; a body built to need more ends its thread, not the service.
const heapMb = 1024;

/**
 * Reads a manifest on a separate thread, so that neither its size nor its form delays other requests. `close` ends the
 * thread and frees its memory.
 */
export class ManifestReader {
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  #head: ManifestHead | undefined;
  #failure: Error | undefined;

  /** Takes over the bytes: they are empty afterwards. */
  constructor(sent: SentBytes, edition: Config['edition'], signal: AbortSignal) {
    const form = sent.type === 'application/json' || sent.bytes.length === 0 ? 'json' : 'yaml';
    const workerData: WorkerInput = { bytes: sent.bytes, form, edition };
    this.#worker = new Worker(workerFile(), {
      workerData,
      transferList: [sent.bytes.buffer],
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    // The thread may also fail while nobody waits for an answer.
    this.#worker.on('error', (error: Error) => {
      this.#failure = readerError(error);
    });
    this.#signal = signal;
  }

  /** Reads and validates. Throws `invalid_request` with paths, and `payload_too_large` if it takes too much memory. */
  async open(): Promise<void> {
    const answer = await this.#receive();
    if ('refused' in answer) {
      const { code, message, details } = answer.refused;
      throw new ApiError(code, message, { details });
    }
    if ('head' in answer) this.#head = answer.head;
  }

  get head(): ManifestHead {
    if (this.#head === undefined) throw new Error('The manifest is not open');
    return this.#head;
  }

  /** The entries of one kind, in order. The next batch is prepared while the consumer works on the current one. */
  async *batches(kind: BatchKind): AsyncGenerator<Batch, void> {
    let coming: Promise<Answer> | undefined = this.#ask({ kind, from: 0 });
    while (coming !== undefined) {
      const answer: Answer = await coming;
      if (!('batch' in answer)) throw new Error('The manifest reader answered out of turn');
      const next: number | null = answer.batch.next;
      coming = next === null ? undefined : this.#ask({ kind, from: next });
      // Handled when awaited; a consumer that stops early must not leave it unhandled.
      coming?.catch(() => undefined);
      yield answer.batch;
    }
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(question: Question): Promise<Answer> {
    const answer = this.#receive();
    this.#worker.postMessage(question);
    return answer;
  }

  #receive(): Promise<Answer> {
    const worker = this.#worker;
    // Per answer: hashing passwords between two of them may take minutes.
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(readTimeoutMs)]);
    return new Promise((resolve, reject) => {
      const onMessage = (answer: Answer): void => finish(() => resolve(answer));
      const onError = (error: Error): void => finish(() => reject(readerError(error)));
      const onExit = (): void => finish(() => reject(new Error('The manifest reader ended')));
      const onAbort = (): void => finish(() => reject(abandoned(signal.reason)));
      const finish = (settle: () => void): void => {
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        signal.removeEventListener('abort', onAbort);
        settle();
      };
      if (this.#failure !== undefined) return reject(this.#failure);
      if (signal.aborted) return reject(abandoned(signal.reason));
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      signal.addEventListener('abort', onAbort);
    });
  }
}

/** Beside this file in the sources, and beside the bundle. */
function workerFile(): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
  return new URL(`./manifest-worker.${extension}`, import.meta.url);
}

function readerError(error: Error): Error {
  if (!('code' in error) || error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return new ApiError('payload_too_large', 'This manifest needs too much memory. Split it into several.');
}

function abandoned(reason: unknown): ApiError {
  return new ApiError('invalid_request', 'Reading the manifest was stopped: it took too long, or the request ended', {
    cause: reason,
  });
}
