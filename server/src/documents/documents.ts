import { ApiError } from '@homeport/contracts/errors';
import type { BlobStore } from '../artifacts/blob-store.ts';
import { readContent } from '../artifacts/contents.ts';
import { FairTurns } from '../platform/concurrency/fair-turns.ts';
import { RecentTimeouts } from '../platform/concurrency/recent-timeouts.ts';
import { waitAtMost } from '../platform/waits.ts';
import type { Platform } from '../platform.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { type DocumentProblem, documentBounds } from './document.ts';
import {
  claimDocument,
  type DocumentInfo,
  failDocument,
  findDocuments,
  forgetClaim,
  saveDocument,
} from './document-store.ts';
import { extractInSandbox } from './extractor.ts';

export type Content = { sha256: string; size: number };
type Needs = Pick<Platform, 'db' | 'log' | 'clock'> & { artifactStore: BlobStore; sandbox: Sandbox };

/**
 * Limits for reading files: each takes a core, and memory up to the bounds. A refused file is started when requested
 * again.
 */
const turnLimits = { atOnce: 2, perLane: 1, waiting: 500, busy: 'Too many files are waiting to be read.' };
const loadTimeoutMs = 60_000;
const lookEveryMs = 500;
const closeMs = 2_000;

const tooLarge: DocumentProblem = {
  code: 'too_large',
  message: `The file is larger than ${documentBounds.maxBytes / 1024 / 1024} MiB and is not read.`,
};

/**
 * Reads contents: once for all replicas, a few at a time, in child processes. Each person has one turn at a time, and
 * shorter limits after files that took too long.
 */
export class Documents {
  readonly #deps: Needs;
  readonly #turns = new FairTurns(turnLimits);
  readonly #timeouts: RecentTimeouts;
  /** By person and content. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #closed = new AbortController();

  constructor(deps: Needs) {
    this.#deps = deps;
    this.#timeouts = new RecentTimeouts(deps.clock);
  }

  /**
   * Returns the state of the content. Starts reading unread content in the person's lane, and waits up to `waitMs`.
   */
  async read(content: Content, userId: string, waitMs: number, signal?: AbortSignal): Promise<DocumentInfo> {
    const { clock } = this.#deps;
    const giveUpAt = clock.elapsed() + waitMs;
    for (;;) {
      signal?.throwIfAborted();
      const known = await this.#find(content);
      if (known !== undefined && known.state !== 'working') return known;
      const left = giveUpAt - clock.elapsed();
      const own = this.#begin(content, userId);
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
  #begin(content: Content, userId: string): Promise<void> | undefined {
    const key = `${userId} ${content.sha256}`;
    const known = this.#underWay.get(key);
    const { signal } = this.#closed;
    if (known !== undefined || content.size > documentBounds.maxBytes || signal.aborted) return known;
    const work = this.#turns
      .take({ lane: userId, isKnown: true, signal }, () => this.#work(content, userId))
      // The caller checks again after this pause; without it, it would loop without a break.
      .then((isOurs) => (isOurs ? undefined : this.#deps.clock.sleep(lookEveryMs, signal)))
      .catch((error: unknown) => {
        const isExpected = signal.aborted || (error instanceof ApiError && error.code === 'rate_limited');
        if (!isExpected) this.#deps.log.warn({ cause: error }, 'failed to read a document');
        return this.#deps.clock.sleep(lookEveryMs, signal).catch(() => undefined);
      })
      .finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, work);
    return work;
  }

  /** False if another one reads it, or has read it. */
  async #work(content: Content, userId: string): Promise<boolean> {
    const { kysely } = this.#deps.db;
    const claim = await claimDocument(kysely, content.sha256);
    if (claim === undefined) return false;
    const claimed = { sha256: content.sha256, claim };
    const timeoutMs = this.#timeouts.limitFor(userId, documentBounds.timeoutMs);
    try {
      const bytes = await this.#load(content);
      const bounds = { ...documentBounds, timeoutMs };
      const answer = await extractInSandbox(this.#deps.sandbox, bytes, this.#closed.signal, bounds);
      if ('problem' in answer) {
        if (answer.problem.code === 'too_slow') this.#timeouts.add(userId);
        await failDocument(kysely, claimed, answer.problem);
      } else await saveDocument(this.#deps, claimed, answer.document);
      return true;
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
