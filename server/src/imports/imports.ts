import { createWriteStream } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ApiError } from '@homeport/contracts/errors';
import { readContent } from '../artifacts/contents.ts';
import { mayPass } from '../db/failures.ts';
import type { Timer } from '../platform/clock.ts';
import { FairTurns } from '../platform/concurrency/fair-turns.ts';
import { RecentTimeouts } from '../platform/concurrency/recent-timeouts.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { until, waitAtMost } from '../platform/waits.ts';
import { ParseFailure } from '../sandbox/child.ts';
import {
  type ClaimedImport,
  claimImport,
  failImport,
  finishImport,
  finishReading,
  giveUpOld,
  postponeClaim,
  releaseClaim,
  renewClaim,
  renewEveryMs,
  waitingImports,
} from './import-claims.ts';
import { insertEntries, leaveOut, openPositions } from './import-entries.ts';
import { ClaimLost, type ImportDeps, importConversation, importProjectItem, StoreFailed } from './import-item.ts';
import { importOwnItem } from './import-own.ts';
import { hasEntry, isOwn, planEntries } from './import-plan.ts';
import { ImportReader, ImportTooSlow } from './import-reader.ts';
import { undoImport } from './import-undo.ts';
import type { PreparedItem } from './prepare.ts';
import { ImportRefused, importBounds } from './readers/read-conversation.ts';

const lookEveryMs = 5_000;
const closeMs = 2_000;
/** As long as a lease: later it has run out. */
const postponePatience = { patienceMs: 30_000, firstMs: 100, longestMs: 1_000 };
const turnLimits = { atOnce: 2, perLane: 1, waiting: 1_000, busy: 'Too many imports are waiting.' };
const mostWaiting = 500;
/** A child process that crashed with an archive is followed by one more attempt. */
const crashed = 'Reading the archive ended the process that reads it, twice. It was given up.';
const batchItems = 50;
const batchBytes = 4_000_000;
/** Age of files left by crashed processes; no import runs this long. */
const strayMs = 86_400_000;

/**
 * Reads and imports archives, one per person and two at a time in this process. After a crash, this or another
 * replica resumes an import at the first conversation that is missing.
 */
export class Imports {
  readonly #deps: ImportDeps;
  readonly #closed = new AbortController();
  /** One turn per person, so that one person's archives don't hold up another's. */
  readonly #turns = new FairTurns(turnLimits);
  readonly #timeouts: RecentTimeouts;
  readonly #underWay = new Map<string, Promise<void>>();
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;
  #isAsked = false;

  constructor(deps: ImportDeps) {
    this.#deps = deps;
    this.#timeouts = new RecentTimeouts(deps.clock);
  }

  start(): void {
    this.#timer = this.#deps.clock.every(lookEveryMs, () => this.look());
    void this.#removeStrays();
    this.look();
  }

  /** Looks for work now instead of at the next tick. */
  look(): void {
    this.#isAsked = true;
    if (this.#looking !== undefined || this.#closed.signal.aborted) return;
    this.#looking = this.#findWork().finally(() => {
      this.#looking = undefined;
      if (this.#isAsked) this.look();
    });
  }

  async close(): Promise<void> {
    this.#timer?.stop();
    this.#closed.abort(new Error('the service stops'));
    await waitAtMost(this.#deps.clock, closeMs, Promise.all([this.#looking, ...this.#underWay.values()]));
  }

  get #folder(): string {
    return join(this.#deps.config.dataDir, 'imports');
  }

  async #findWork(): Promise<void> {
    const { kysely } = this.#deps.db;
    this.#isAsked = false;
    try {
      await giveUpOld(kysely);
      for (const { id, owner_id: lane } of await waitingImports(kysely, mostWaiting)) {
        if (this.#underWay.has(id) || this.#closed.signal.aborted) continue;
        const work = this.#turns.take({ lane, isKnown: true, signal: this.#closed.signal }, () =>
          this.#claimAndWork(id),
        );
        this.#underWay.set(
          id,
          work.catch((error: unknown) => this.#warn(error)).finally(() => this.#underWay.delete(id)),
        );
      }
    } catch (error) {
      this.#warn(error);
    }
  }

  /** Another replica may have been faster. */
  async #claimAndWork(id: string): Promise<void> {
    const run = await claimImport(this.#deps.db.kysely, id);
    if (run === undefined) return;
    await this.#work(run);
    // The user can have started or undone it meanwhile.
    this.#underWay.delete(id);
    this.look();
  }

  #warn(error: unknown): void {
    if (this.#closed.signal.aborted) return;
    this.#deps.log.warn({ cause: error }, 'failed to process imports; trying again');
  }

  async #work(run: ClaimedImport): Promise<void> {
    const { db, clock, log } = this.#deps;
    const lost = new AbortController();
    const signal = AbortSignal.any([this.#closed.signal, lost.signal]);
    const renewal = clock.every(renewEveryMs, async () => {
      const held = await renewClaim(db.kysely, run).catch(() => true);
      if (!held) lost.abort(new ClaimLost());
    });
    try {
      if (run.is_undoing) await undoImport(this.#deps, run, signal);
      else
        await this.#withArchive(run, signal, (path) =>
          run.state === 'reading' ? this.#read(run, path, signal) : this.#import(run, path, signal),
        );
    } catch (error) {
      if (error instanceof ClaimLost || lost.signal.aborted) return;
      if (this.#closed.signal.aborted) return await releaseClaim(db.kysely, run);
      if (error instanceof ImportTooSlow) this.#timeouts.add(run.owner_id);
      if (error instanceof ParseFailure && error.reason === 'crashed' && run.attempts > 1)
        return await failImport(db.kysely, run, crashed, false);
      if (error instanceof ImportRefused) return await failImport(db.kysely, run, error.message, false);
      if (error instanceof ApiError)
        return await failImport(db.kysely, run, `${error.message}. Start the import again later.`, true);
      log.warn({ cause: error, import: run.id }, 'an import was interrupted; trying again');
      await this.#postpone(run);
    } finally {
      renewal.stop();
    }
  }

  /** Retries until the database answers, since the database itself can be the cause of the failure. */
  async #postpone(run: ClaimedImport): Promise<void> {
    const { db, clock } = this.#deps;
    const isPostponed = () =>
      postponeClaim(db.kysely, run).then(
        () => true,
        () => this.#closed.signal.aborted,
      );
    await until({ clock, ...postponePatience }, isPostponed);
  }

  /**
   * A copy on this machine's disk: archives are read from everywhere at once, which a store in a bucket is not made
   * for.
   */
  async #withArchive(run: ClaimedImport, signal: AbortSignal, work: (path: string) => Promise<void>): Promise<void> {
    const { sha256, size } = run;
    if (sha256 === null) throw new ImportRefused('The archive is gone. Upload it again.');
    await this.#deps.disk.assertRoom('files');
    makeFolder(this.#folder, 0o700);
    const path = join(this.#folder, run.claim);
    try {
      const file = createWriteStream(path, { mode: 0o600 });
      const sink = Writable.toWeb(file).getWriter();
      await readContent(this.#deps, { sha256 }, { start: 0, end: size - 1 }, async (chunk) => {
        signal.throwIfAborted();
        await sink.write(Buffer.from(chunk));
      });
      await sink.close();
      await finished(file).catch(() => undefined);
      await work(path);
    } finally {
      await rm(path, { force: true });
    }
  }

  async #read(run: ClaimedImport, path: string, signal: AbortSignal): Promise<void> {
    const { kysely } = this.#deps.db;
    const problems: string[] = [];
    const notices: string[] = [];
    let source: string | null = null;
    let position = 0;
    let batch: { position: number; item: PreparedItem }[] = [];
    let bytes = 0;
    const save = async (): Promise<void> => {
      signal.throwIfAborted();
      await insertEntries(kysely, run.id, await planEntries(kysely, run.owner_id, batch));
      batch = [];
      bytes = 0;
    };
    for await (const item of this.#itemsOf(run, path, signal)) {
      if (item.kind === 'note') problems.push(item.message);
      else if (item.kind === 'instructions') notices.push(item.text);
      if (!hasEntry(item)) continue;
      source ??= item.source;
      batch.push({ position, item });
      position += 1;
      bytes += sizeOf(item);
      if (batch.length >= batchItems || bytes > batchBytes) await save();
    }
    await save();
    await finishReading(kysely, run, { source, instructions: notices.at(-1) ?? null, problems });
  }

  async #import(run: ClaimedImport, path: string, signal: AbortSignal): Promise<void> {
    const { kysely } = this.#deps.db;
    const open = await openPositions(kysely, run.id);
    const archive = await this.#open(run, path, signal);
    try {
      let position = -1;
      for await (const item of archive.items()) {
        if (open.size === 0) break;
        if (!hasEntry(item)) continue;
        position += 1;
        if (!open.delete(position)) continue;
        await this.#importItem({ run, archive, position }, item, signal);
      }
    } finally {
      await archive.close();
    }
    await finishImport(kysely, run);
  }

  #open({ owner_id: ownerId, email }: ClaimedImport, path: string, signal: AbortSignal): Promise<ImportReader> {
    const stepMs = this.#timeouts.limitFor(ownerId, importBounds.stepMs);
    const cpuMs = this.#timeouts.limitFor(ownerId, importBounds.cpuMs);
    return ImportReader.open(this.#deps.sandbox, { path, ownerId, email }, signal, { ...importBounds, stepMs, cpuMs });
  }

  async *#itemsOf(run: ClaimedImport, path: string, signal: AbortSignal): AsyncGenerator<PreparedItem, void> {
    const archive = await this.#open(run, path, signal);
    try {
      yield* archive.items();
    } finally {
      await archive.close();
    }
  }

  async #importItem(
    place: Parameters<typeof importConversation>[1],
    item: PreparedItem,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    try {
      if (item.kind === 'conversation') await importConversation(this.#deps, place, item);
      else if (item.kind === 'project') await importProjectItem(this.#deps, place, item);
      else if (isOwn(item)) await importOwnItem(this.#deps, place, item);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ParseFailure || error instanceof ImportRefused) throw error;
      const isAlone = error instanceof Error && !isTemporary(error);
      if (!isAlone) throw error;
      this.#deps.log.warn({ cause: error, import: place.run.id }, 'failed to import an entry of an archive');
      const reason = error instanceof ApiError ? error.message : 'it could not be saved';
      await leaveOut(this.#deps.db.kysely, { importId: place.run.id, position: place.position }, reason);
    }
    // Progress was made: the next failure counts as the first.
    place.run.attempts = 1;
  }

  async #removeStrays(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const path = join(this.#folder, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
      if (mtimeMs < this.#deps.clock.now() - strayMs) await rm(path, { force: true });
    }
  }
}

function sizeOf(item: PreparedItem): number {
  if (item.kind === 'prompt' || item.kind === 'assistant') return JSON.stringify(item.fields).length;
  if (item.kind !== 'conversation') return 1000;
  return item.messages.reduce((sum, { parts, words }) => sum + parts.length + words.length, 1000);
}

/** True for transient errors that affect every conversation: the import resumes later at the same place. */
function isTemporary(error: Error): boolean {
  if (error instanceof ClaimLost || error instanceof StoreFailed || mayPass(error)) return true;
  if (error instanceof ApiError) return error.code === 'storage_full' || error.code === 'database_unavailable';
  const code = 'code' in error ? String(error.code) : '';
  // Classes of PostgreSQL: data and constraints are the conversation's own fault.
  return !/^(22|23)/.test(code) && code !== '';
}
