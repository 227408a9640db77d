import type { ModelTier } from '@homeport/contracts/catalogue/catalogue';
import type { SentBytes } from '@homeport/contracts/endpoint';
import { ApiError } from '@homeport/contracts/errors';
import type {
  ManifestAssistant,
  ManifestHead,
  ManifestPrompt,
  ManifestProvider,
  ManifestUser,
} from '@homeport/contracts/provision/manifest';
import { z } from 'zod';
import type { Config } from '../../config/config.ts';
import type { ImportedChat } from '../../conversations/imported-chats.ts';
import type { ImportedMessage } from '../../conversations/messages.ts';
import { type JobLimits, ParseFailure } from '../../sandbox/child.ts';
import { type Job, ParseRefused, type Sandbox } from '../../sandbox/sandbox.ts';
import type { ManifestForm } from './manifest-text.ts';

/** The input of the task in manifest-task.ts, and its questions. */
export type ManifestInput = { bytes: Uint8Array; form: ManifestForm; edition: Config['edition'] };
export type BatchKind = 'users' | 'catalogues' | 'assistants' | 'prompts' | 'conversations';
export type Question = { kind: BatchKind; from: number };

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

// A manifest of 64 MiB needs about 500 MB; a body built to need more ends the process that reads it, not the service.
const jobLimits: JobLimits = {
  heapMb: 1024,
  memoryBytes: 1_792 * 1024 * 1024,
  // Per answer: hashing passwords between two of them may take minutes.
  stepMs: 120_000,
  cpuMs: 300_000,
};

const refusal = z.object({
  code: z.enum(['invalid_request', 'payload_too_large']),
  message: z.string().max(10_000),
  details: z.unknown(),
});

/** Reads a manifest in a child process, so that neither its size nor its form delays other requests. */
export class ManifestReader {
  readonly #job: Job;
  readonly head: ManifestHead;

  private constructor(job: Job) {
    this.#job = job;
    this.head = job.opened as ManifestHead;
  }

  /** Reads and validates. Throws `invalid_request` with paths, and `payload_too_large` if it takes too much memory. */
  static async open(
    sandbox: Sandbox,
    sent: SentBytes,
    edition: Config['edition'],
    signal: AbortSignal,
  ): Promise<ManifestReader> {
    const form = sent.type === 'application/json' || sent.bytes.length === 0 ? 'json' : 'yaml';
    const input: ManifestInput = { bytes: sent.bytes, form, edition };
    return new ManifestReader(
      await inWords(signal, () => sandbox.open('manifest', input, { limits: jobLimits, signal })),
    );
  }

  /** The entries of one kind, in order. The next batch is prepared while the consumer works on the current one. */
  async *batches(kind: BatchKind): AsyncGenerator<Batch, void> {
    let coming: Promise<Batch> | undefined = this.#ask({ kind, from: 0 });
    while (coming !== undefined) {
      const batch: Batch = await coming;
      const next: number | null = batch.next;
      coming = next === null ? undefined : this.#ask({ kind, from: next });
      // Handled when awaited; a consumer that stops early must not leave it unhandled.
      coming?.catch(() => undefined);
      yield batch;
    }
  }

  close(): Promise<void> {
    return this.#job.close();
  }

  async #ask(question: Question): Promise<Batch> {
    const batch = (await inWords(undefined, () => this.#job.ask(question))) as Batch;
    // Each batch begins after the one before, so that there is an end.
    if (batch.next !== null && !(batch.next > question.from))
      throw new Error('The manifest reader answered out of turn');
    return batch;
  }
}

async function inWords<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ParseRefused) {
      const { code, message, details } = refusal.parse(error.data);
      throw new ApiError(code, message, { details });
    }
    if (error instanceof ParseFailure && error.reason === 'memory') {
      throw new ApiError('payload_too_large', 'This manifest needs too much memory. Split it into several.');
    }
    if (signal?.aborted !== true && !(error instanceof ParseFailure)) throw error;
    const message = 'Reading the manifest was stopped: it took too long, is damaged, or the request ended';
    throw new ApiError('invalid_request', message, { cause: error });
  }
}
