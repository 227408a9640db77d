import { randomUUIDv7 } from 'node:crypto';
import { dropTemporaryChats } from '../../conversations/chats.ts';
import type { Timer } from '../../platform/clock.ts';
import { PerAccount } from '../../platform/concurrency/per-account.ts';
import { waitAtMost } from '../../platform/waits.ts';
import { claimNext } from '../ledger/claims.ts';
import { keepHandedOver } from '../ledger/handover.ts';
import { interruptExpired } from '../ledger/interruption.ts';
import { pruneEnded } from '../ledger/pruning.ts';
import type { Claimed, ClaimOutcome, Maker } from '../ledger/response-start.ts';
import { claimAnswered } from '../ledger/resumptions.ts';
import { findToStop, renewLeases } from '../ledger/running-state.ts';
import { dropOldFrames, type LogBatch, storeFrames } from '../log/frame-store.ts';
import { notify, type Signal, SignalListener } from '../log/signals.ts';
import { Activity } from './activity.ts';
import { Dispatcher } from './dispatcher.ts';
import { ResponseRun } from './response-run.ts';
import type { RunDeps } from './run-deps.ts';

/** Intervals of a replica, in milliseconds; tests shorten them. */
export type ChatTimings = {
  /** Milliseconds that an input of chat/start waits for a client to request its stream. */
  graceMs: number;
  tickMs: number;
  /** The same interval when no other replica waits for frames. */
  aloneTickMs: number;
  leaseMs: number;
  heartbeatMs: number;
  sweepMs: number;
  dispatchMs: number;
  /** How often to check for responses that must stop, in case a signal was lost. */
  watchMs: number;
  /** How often to check for expired leases while the database does not answer. */
  leaseLookMs: number;
  /** How long frames are kept after the end. */
  keepFramesMs: number;
};

export const defaultTimings: ChatTimings = {
  graceMs: 5_000,
  tickMs: 100,
  // With the 300 ms that the embedded database may take for a commit that does not wait for the disk, a crash loses less
  // than a second.
  aloneTickMs: 500,
  leaseMs: 15_000,
  heartbeatMs: 5_000,
  sweepMs: 5_000,
  dispatchMs: 1_000,
  watchMs: 500,
  leaseLookMs: 250,
  keepFramesMs: 5 * 60_000,
};

const backgroundMax = 8;
/** The most that answers waiting for the database may hold, as JSON. */
const keptBytesMax = 256 * 1024 * 1024;

/** Dependencies for making responses on one replica. */
export type ReplicaDeps = Omit<RunDeps, 'responses'>;

/**
 * The responses of this replica, with the periodic work for the responses of all replicas: batched writes of frames,
 * heartbeats, the sweep of expired leases, and the dispatcher of queued inputs.
 */
export class RunningResponses {
  readonly replica = randomUUIDv7();
  readonly signals: SignalListener;
  readonly activity: Activity;
  readonly timings: ChatTimings;
  /** Answers and open streams of each account, here. */
  readonly answers: PerAccount;
  readonly streams: PerAccount;
  readonly #deps: ReplicaDeps;
  readonly #runs = new Map<string, ResponseRun>();
  readonly #timers: Timer[] = [];
  readonly #idle = new Set<() => void>();
  readonly #jobs = new Map<string, Promise<void>>();
  readonly #background = new Set<Promise<void>>();
  readonly #dispatcher: Dispatcher;
  readonly #stopped = new AbortController();
  #draining = false;
  #isGraceOver = false;
  #keptBytes = 0;
  #leasesSeenAt = Number.POSITIVE_INFINITY;

  constructor(deps: ReplicaDeps, timings: ChatTimings = defaultTimings) {
    this.#deps = deps;
    this.timings = timings;
    this.signals = new SignalListener({ db: deps.db, clock: deps.clock, log: deps.log });
    this.signals.on((signal) => this.#onSignal(signal));
    this.activity = new Activity(this.signals);
    this.answers = new PerAccount(deps.config.answersPerAccount);
    this.streams = new PerAccount(deps.config.streamsPerAccount);
    this.#dispatcher = new Dispatcher(deps, this.answers, {
      startNext: (chatId) => this.startNext(chatId),
      continueAnswered: (chatId) => this.continueAnswered(chatId),
      failed: (error) => this.#failed('dispatch', error),
    });
  }

  get maker(): Maker {
    return { replica: this.replica, leaseMs: this.timings.leaseMs, requestedAt: this.#deps.clock.elapsed() };
  }

  get size(): number {
    return this.#runs.size;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /**
   * Starts the periodic work. If no other replica can use this database, running responses are left over from a crash
   * and are ended first. After all replicas have stopped, the first one (`isFirst`) continues the responses that they
   * handed over.
   */
  async start({ isFirst = false }: { isFirst?: boolean } = {}): Promise<void> {
    const { alone } = this.#deps.db;
    if (isFirst && !alone) await keepHandedOver(this.#deps.db.kysely).catch((error) => this.#failed('dispatch', error));
    // One that cannot be ended must not block the start; the sweep tries again.
    if (alone) await interruptExpired(this.#deps, { orphans: true }).catch((error) => this.#failed('sweep', error));
    this.signals.start();
    this.#every(alone ? this.timings.aloneTickMs : this.timings.tickMs, 'store', () => this.#storeFrames());
    this.#every(this.timings.heartbeatMs, 'heartbeat', () => this.#heartbeat());
    this.#every(this.timings.sweepMs, 'sweep', () => this.#sweep());
    this.#every(this.timings.dispatchMs, 'dispatch', () => this.#dispatch());
    this.#every(this.timings.watchMs, 'watch', () => this.#watch());
    // Without other replicas no process can take over a response, however long the database is unavailable.
    if (!alone) this.#every(this.timings.leaseLookMs, 'leases', () => this.#endExpired());
    this.#job('sweep', () => this.#sweep());
  }

  find(id: string): ResponseRun | undefined {
    return this.#runs.get(id);
  }

  /** Makes a claimed response; the returned run has already started. */
  begin(claimed: Claimed): ResponseRun {
    const { response } = claimed;
    // Lost unnoticed and claimed again: the earlier run ends.
    this.#runs.get(response.id)?.lose();
    const run = new ResponseRun({ ...this.#deps, responses: this }, claimed);
    this.#runs.set(response.id, run);
    const release = this.answers.take(response.owner_id);
    // Kept until the conversation's next message has its own, so that a request in between doesn't find it free.
    void run.done.then((chatHasNext) => this.#finished(run, chatHasNext)).finally(release);
    this.notifyActivity(response.owner_id, response.chat_id);
    // Claimed at the moment when the service began to stop: it may finish, like the others, or is handed over.
    if (this.#isGraceOver) this.#giveUp(run);
    else if (this.#draining) this.#leave(run);
    return run;
  }

  /** Notifies the owner's open clients that a conversation changed, without waiting. */
  notifyActivity(ownerId: string, chatId: string): void {
    const signal: Signal = { kind: 'activity', ids: [ownerId, chatId] };
    this.#notifyHere(signal);
    if (this.#deps.db.alone) return;
    notify(this.#deps.db.kysely, signal.kind, signal.ids).catch((error) => this.#failed('activity', error));
  }

  /** Begins the response if the outcome is a claim; otherwise finds its run, if it is here. */
  adopt(outcome: ClaimOutcome): ResponseRun | undefined {
    if (outcome.kind === 'claimed') return this.begin(outcome);
    return outcome.kind === 'running' ? this.#runs.get(outcome.response.id) : undefined;
  }

  /** Stops the response if it runs here. The flag in the database and the signal reach other replicas. */
  stopLocally(id: string): void {
    this.#runs.get(id)?.stop();
  }

  /** Stops the responses of disabled accounts at once; other replicas do so at their next check. */
  stopDisabled(): void {
    this.#job('watch', () => this.#watch());
  }

  /** Starts what is next in the conversation, if it is due and nothing is running. */
  async startNext(chatId: string): Promise<void> {
    if (this.#draining) return;
    const outcome = await claimNext(this.#deps, chatId, this.maker);
    if (outcome.kind === 'claimed') this.begin(outcome);
  }

  /** Continues what waited for approval in the conversation and now has it, or was handed over. */
  async continueAnswered(chatId: string): Promise<void> {
    if (this.#draining) return;
    const outcome = await claimAnswered(this.#deps, chatId, this.maker);
    if (outcome.kind === 'claimed') this.begin(outcome);
  }

  /** Lets running responses finish for `milliseconds`, hands over the rest as `interrupted`, and stops all timers. */
  async drain(milliseconds: number): Promise<void> {
    this.#draining = true;
    this.activity.close();
    // People can take any time, so responses that wait for them continue after the restart.
    for (const run of this.#runs.values()) this.#leave(run);
    await waitAtMost(this.#deps.clock, milliseconds, this.#allDone());
    this.#isGraceOver = true;
    for (const run of this.#runs.values()) this.#giveUp(run);
    await waitAtMost(this.#deps.clock, handOverMs, this.#allDone());
    for (const timer of this.#timers) timer.stop();
    this.#stopped.abort(new Error('The service is stopping'));
    await Promise.all([...this.#jobs.values(), ...this.#background]);
    await this.signals.stop();
  }

  #leave(run: ResponseRun): void {
    run.park();
    if (!this.#deps.db.alone) run.leave();
  }

  /** Without other replicas, no process could continue it. */
  #giveUp(run: ResponseRun): void {
    if (this.#deps.db.alone) run.interrupt();
    else run.handOver();
  }

  /** Background work, of which more than a few at once are skipped. Failures are logged. */
  inBackground(name: string, work: (signal: AbortSignal) => Promise<void>): void {
    if (this.#background.size >= backgroundMax || this.#draining) return;
    const job = work(this.#stopped.signal)
      .catch((error) => this.#failed(name, error))
      .finally(() => this.#background.delete(job));
    this.#background.add(job);
  }

  /** Ends abandoned responses, in one conversation or in all, except those made or kept here. */
  async interruptExpired(where: { chatId?: string } = {}): Promise<string[]> {
    return interruptExpired(this.#deps, { ...where, but: [...this.#runs.keys()] });
  }

  /** Reserves memory for an answer that cannot be stored yet; false if too much is waiting. Released with `-bytes`. */
  keep(bytes: number): boolean {
    if (bytes > 0 && this.#keptBytes + bytes > keptBytesMax) return false;
    this.#keptBytes += bytes;
    return true;
  }

  /** Resolves when no write of frames is running: taken frames are stored, or back in their log. */
  async stored(): Promise<void> {
    await this.#jobs.get('store');
  }

  /** Stores the frames of all answers so far in one statement, and resolves when this has been tried. */
  async storeNow(): Promise<void> {
    await this.stored();
    this.#job('store', () => this.#storeFrames());
    await this.stored();
  }

  #allDone(): Promise<void> {
    if (this.#runs.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.add(resolve));
  }

  async #finished(run: ResponseRun, chatHasNext: boolean): Promise<void> {
    if (this.#runs.get(run.response.id) === run) this.#runs.delete(run.response.id);
    if (this.#runs.size === 0) for (const resolve of this.#idle) resolve();
    this.#notifyHere({ kind: 'ended', ids: [run.response.id] });
    this.notifyActivity(run.response.owner_id, run.response.chat_id);
    if (!chatHasNext) return;
    await this.startNext(run.response.chat_id).catch((error) => this.#failed('dispatch', error));
  }

  async #storeFrames(): Promise<void> {
    const batch: LogBatch[] = [];
    const taken: { run: ResponseRun; entry: LogBatch }[] = [];
    for (const run of this.#runs.values()) {
      const row = run.ending ? undefined : run.log.takePending();
      if (row === undefined) continue;
      const entry = { id: run.response.id, generation: run.response.generation, row };
      batch.push(entry);
      taken.push({ run, entry });
    }
    if (batch.length === 0) return;
    try {
      const mine = await storeFrames(this.#deps, batch);
      this.#notifyHere({ kind: 'frames', ids: [...mine] });
      for (const { run } of taken) if (!mine.has(run.response.id) && !run.ending) run.lose();
    } catch (error) {
      for (const { run, entry } of taken) run.log.restore(entry.row);
      throw error;
    }
  }

  async #heartbeat(): Promise<void> {
    // Includes responses that are ending: while they wait for the database, no replica may end them with fewer parts
    // than they hold.
    const runs = [...this.#runs.values()];
    if (runs.length === 0) return;
    const { maker } = this;
    const held = await renewLeases(
      this.#deps,
      runs.map((run) => run.response.id),
      maker,
    );
    for (const run of runs) {
      if (held.get(run.response.id) === run.response.generation) run.leasedAt = maker.requestedAt;
      else if (!run.ending) run.lose();
    }
  }

  /**
   * The database was unavailable for so long that another replica can have ended these responses and answered the next
   * inputs: this replica emits nothing more. The lease is counted from before it was requested, so it ends here first.
   */
  async #endExpired(): Promise<void> {
    const now = this.#deps.clock.elapsed();
    // This process stood still meanwhile: others may have ended these, and continued them as well.
    const stoodStill = now - this.#leasesSeenAt > this.timings.leaseMs;
    this.#leasesSeenAt = now;
    for (const run of this.#runs.values()) {
      if (run.leasedAt >= now - this.timings.leaseMs) continue;
      run.expire();
      if (stoodStill) run.log.cut();
    }
  }

  /**
   * Stops responses that were asked to stop, deleted, or belong to disabled accounts. The generation protects a
   * response that was continued since.
   */
  async #watch(): Promise<void> {
    if (this.#runs.size === 0) return;
    for (const [id, generation] of await findToStop(this.#deps, this.replica, [...this.#runs.keys()])) {
      const run = this.#runs.get(id);
      if (generation === null || run?.response.generation === generation) run?.stop();
    }
  }

  async #sweep(): Promise<void> {
    // Renewed first: a replica that was away must not interrupt its own responses.
    await this.#heartbeat();
    await dropOldFrames(this.#deps, this.timings.keepFramesMs);
    await pruneEnded(this.#deps);
    await dropTemporaryChats(this.#deps);
    const chats = await this.interruptExpired();
    if (chats.length > 0) this.#job('dispatch', () => this.#dispatch());
  }

  async #dispatch(): Promise<void> {
    if (!this.#draining) await this.#dispatcher.look();
  }

  #onSignal(signal: Signal): void {
    if (signal.kind === 'input') this.#job('dispatch', () => this.#dispatch());
    if (signal.kind === 'stop' && signal.ids.some((id) => this.#runs.has(id))) this.#job('watch', () => this.#watch());
  }

  /** Without other replicas the database sends no notifications; with them it also notifies this replica. */
  #notifyHere(signal: Signal): void {
    if (this.#deps.db.alone) this.signals.notify(signal);
  }

  #every(milliseconds: number, name: string, work: () => Promise<void>): void {
    const timer = this.#deps.clock.every(milliseconds, () => this.#job(name, work));
    this.#timers.push(timer);
  }

  /** Runs the job unless it is still running; its failure is logged and it comes round again. */
  #job(name: string, work: () => Promise<void>): void {
    if (this.#jobs.has(name)) return;
    const job = work()
      .catch((error) => this.#failed(name, error))
      .finally(() => this.#jobs.delete(name));
    this.#jobs.set(name, job);
  }

  #failed(name: string, error: unknown): void {
    this.#deps.log.warn({ job: name, cause: error }, 'a background job for responses failed');
  }
}

/** How long ending the rest may take when draining. */
const handOverMs = 5_000;
