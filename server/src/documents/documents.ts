import { availableParallelism } from 'node:os';
import type { BlobStore } from '../artifacts/blob-store.ts';
import { readContent } from '../artifacts/contents.ts';
import type { Platform } from '../platform.ts';
import { Slots } from '../slots.ts';
import { waitAtMost } from '../waits.ts';
import { type DocumentProblem, documentBounds } from './document.ts';
import {
  claimDocument,
  type DocumentInfo,
  failDocument,
  findDocuments,
  forgetClaim,
  saveDocument,
} from './document-store.ts';
import { extractOnThread } from './extractor.ts';

export type Content = { sha256: string; size: number };
type Needs = Pick<Platform, 'db' | 'log' | 'clock'> & { artifactStore: BlobStore };

/** Files read at once: each takes a core, and memory up to the bounds. */
const threads = Math.max(1, Math.min(2, availableParallelism() - 1));
/** What stands in line in this process; the rest is begun when it is asked for again. */
const mostWaiting = 500;
const loadTimeoutMs = 60_000;
const lookEveryMs = 500;
const closeMs = 2_000;

const tooLarge: DocumentProblem = {
  code: 'too_large',
  message: `The file is larger than ${documentBounds.maxBytes / 1024 / 1024} MiB and is not read.`,
};

/**
 * Sees to it that contents are read: once for all replicas, a few at a time, never on the thread that answers requests.
 */
export class Documents {
  readonly #deps: Needs;
  readonly #slots = new Slots(threads);
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #closed = new AbortController();

  constructor(deps: Needs) {
    this.#deps = deps;
  }

  /** What is known of the content; what nobody has read yet is begun, and waited for that long. */
  async read(content: Content, patienceMs: number, signal?: AbortSignal): Promise<DocumentInfo> {
    const { clock } = this.#deps;
    const giveUpAt = clock.elapsed() + patienceMs;
    for (;;) {
      signal?.throwIfAborted();
      const known = await this.#find(content);
      if (known !== undefined && known.state !== 'working') return known;
      const left = giveUpAt - clock.elapsed();
      const own = this.#begin(content);
      if (left <= 0 || this.#closed.signal.aborted) return { state: 'working' };
      // Another replica may have it: then only looking helps.
      if (own === undefined) await clock.sleep(Math.min(lookEveryMs, left), signal);
      else await waitAtMost(clock, Math.min(left, lookEveryMs * 4), own);
    }
  }

  /** Ends what is being read and gives it up, so that another replica can begin at once. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the service stops'));
    await waitAtMost(this.#deps.clock, closeMs, Promise.all(this.#underWay.values()));
  }

  async #find({ sha256, size }: Content): Promise<DocumentInfo | undefined> {
    if (size > documentBounds.maxBytes) return { state: 'failed', problem: tooLarge };
    return (await findDocuments(this.#deps.db.kysely, [sha256])).get(sha256);
  }

  /** Undefined when this process has nothing to do for it, or too much. */
  #begin(content: Content): Promise<void> | undefined {
    const { sha256, size } = content;
    const known = this.#underWay.get(sha256);
    if (known !== undefined || size > documentBounds.maxBytes || this.#closed.signal.aborted) return known;
    if (this.#underWay.size >= mostWaiting) return undefined;
    const work = this.#slots
      .run(() => this.#work(content), this.#closed.signal)
      .catch((error: unknown) => {
        if (!this.#closed.signal.aborted) this.#deps.log.warn({ cause: error }, 'failed to read a document');
      })
      .finally(() => this.#underWay.delete(sha256));
    this.#underWay.set(sha256, work);
    return work;
  }

  async #work(content: Content): Promise<void> {
    const { kysely } = this.#deps.db;
    const claim = await claimDocument(kysely, content.sha256);
    if (claim === undefined) {
      // Whoever asks looks again after this; without a pause it would look without end.
      await this.#deps.clock.sleep(lookEveryMs, this.#closed.signal);
      return;
    }
    const claimed = { sha256: content.sha256, claim };
    try {
      const answer = await extractOnThread(await this.#load(content), this.#closed.signal);
      if ('problem' in answer) await failDocument(kysely, claimed, answer.problem);
      else await saveDocument(this.#deps, claimed, answer.document);
    } catch (error) {
      await forgetClaim(kysely, claimed);
      throw error;
    }
  }

  async #load(content: Content): Promise<Uint8Array> {
    if (content.size === 0) return new Uint8Array();
    const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(loadTimeoutMs)]);
    const bytes = new Uint8Array(content.size);
    let at = 0;
    await readContent(this.#deps, content, { start: 0, end: content.size - 1 }, async (chunk) => {
      signal.throwIfAborted();
      bytes.set(chunk, at);
      at += chunk.length;
    });
    return bytes;
  }
}
