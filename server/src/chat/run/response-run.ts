import type { Frame, MessageMetadata, MessagePart, Usage } from '@homeport/contracts/chat/frames';
import { finishParts } from '@homeport/contracts/chat/message-assembly';
import { ApiError } from '@homeport/contracts/errors';
import type { TurnContext } from '../../conversations/chats.ts';
import { readMessage } from '../../conversations/messages.ts';
import { databaseUnavailable, isDatabaseUnavailable, mayPass } from '../../db/failures.ts';
import { systemClock } from '../../platform/clock.ts';
import { assertBudget } from '../../usage/budget-rule.ts';
import { interruptedError } from '../ledger/interruption.ts';
import type { ResponseEnd } from '../ledger/response-end.ts';
import type { Claimed, ResponseRow } from '../ledger/response-start.ts';
import { saveCheckpoint, saveReasoningState } from '../ledger/running-state.ts';
import { takeSteered } from '../ledger/steering.ts';
import type { ResponseLog } from '../log/response-log.ts';
import type { ReasoningState } from '../model/reasoning-state.ts';
import { addUsage } from '../model/usage.ts';
import type { TurnResult } from '../turn/turn-loop.ts';
import { finishWaitingCalls, waitingCalls } from '../turn/waiting-calls.ts';
import { pictureStore } from './picture-store.ts';
import { type PreparedTurn, type PreparingHooks, prepareTurn, runPreparedTurn } from './prepare/turn-request.ts';
import { makeRequestedSummary } from './requested-summary.ts';
import { createRunApprovals, type RunApprovals } from './run-approvals.ts';
import { RunCalls } from './run-calls.ts';
import type { RunDeps } from './run-deps.ts';
import {
  type Cut,
  countLost,
  cutEnding,
  type Ending,
  endFrames,
  endWithPatience,
  failedEnding,
  finishOf,
  isTooLong,
  logEnd,
  usageWithin,
} from './run-ending.ts';
import { RunOutput } from './run-output.ts';
import { type Served, ServingModel } from './stand-ins.ts';
import { titleAfterFirstExchange } from './title-exchange.ts';

/** Shared, because creating an error costs its stack each time. */
const over = new DOMException('The answer has ended', 'AbortError');
/** How long followers of a response with an expired lease wait for the database's decision. */
const wordOnLeaseMs = 1_000;

/**
 * Makes one assistant message on this replica. It runs by itself once constructed: followers come and go through `log`,
 * `stop` ends it, and in any case it ends as a row in the database or loses its lease.
 */
export class ResponseRun {
  readonly response: ResponseRow;
  /** Resolves when the response has ended; true if an input is queued in the conversation. Never rejects. */
  readonly done: Promise<boolean>;
  /** When the granted lease was last requested, by `performance.now`. */
  leasedAt: number;
  readonly #deps: RunDeps;
  readonly #context: TurnContext;
  readonly #abort = new AbortController();
  /** Aborted when no more output is produced, so that tools release their resources. */
  readonly #made = new AbortController();
  readonly #startedAt = systemClock.elapsed();
  /** Aborted when there is nothing left to do. */
  readonly #ended = new AbortController();
  readonly #output: RunOutput;
  #cut: Cut | undefined;
  #ending = false;
  #handsOver = false;
  /** True when the service is stopping and another replica continues after this step. */
  #leaves = false;
  /** False while a continued response does not yet have its earlier parts. */
  #hasParts: boolean;
  #modelId: string | undefined;
  #reasoningState: ReasoningState | undefined;
  #historyState: PreparedTurn['historyState'] | undefined;
  #promptTokens = 0;
  #assistant: MessageMetadata['assistant'];
  readonly #extendsText: boolean;
  /** The usage of a continued response so far. */
  #earlierUsage: Usage | undefined;
  readonly #calls: RunCalls;
  readonly #approvals: RunApprovals;
  /** Resolves when the prompt context is stored. */
  #kept = Promise.resolve();

  constructor(deps: RunDeps, { response, context, leasedAt, extendsText }: Omit<Claimed, 'kind'>) {
    this.#extendsText = extendsText === true;
    this.#deps = deps;
    this.leasedAt = leasedAt;
    this.#context = context;
    this.response = response;
    this.#calls = new RunCalls(response);
    this.#approvals = createRunApprovals(deps, response, (isParked) => {
      if (isParked) this.#cut ??= 'interrupted';
      return this.#cut === 'interrupted' || this.#cut === 'lost';
    });
    this.#output = new RunOutput(response.first_seq, () => this.#cutOff('full'));
    this.#hasParts = response.generation === 1;
    if (this.#hasParts) this.#output.emit({ type: 'start', messageId: response.id });
    const facts = { 'homeport.response_id': response.id, 'homeport.response_kind': response.kind };
    this.done = deps.tracing.span({ kind: 'internal', name: 'response', facts }, () => this.#run());
  }

  get log(): ResponseLog {
    return this.#output.log;
  }

  /** Resolves at the answer's first frame (undefined), or with the failure that came before it. */
  get begun(): Promise<ApiError | undefined> {
    return this.#output.begun;
  }

  /** True once nothing more is written but the end itself. */
  get ending(): boolean {
    return this.#ending;
  }

  /** Stop: aborts the request to the provider now. */
  stop(): void {
    this.#cutOff('stopped');
  }

  /**
   * Interrupts the response because the service is stopping. The output so far is kept, and the response can be
   * continued.
   */
  interrupt(): void {
    this.#cutOff('interrupted');
  }

  /** Hands this response over to another replica because the service is stopping. */
  handOver(): void {
    this.#handsOver = true;
    this.interrupt();
  }

  /** Handed over after the present step, so that no step is made twice. */
  leave(): void {
    this.#leaves = true;
  }

  /**
   * Stops waiting for approvals because the service is stopping and people can take any time. Calls that wait for one
   * continue after the restart; other tools finish.
   */
  park(): void {
    this.#approvals.park();
  }

  /**
   * Stops all output after the lease expired while the database is unavailable, since another replica can have ended
   * this response.
   */
  expire(): void {
    // A response that has ended is kept until the database is back; then the fence decides.
    if (this.#output.isClosed || this.#cut !== undefined) return;
    this.interrupt();
    const { clock, log } = this.#deps;
    log.warn(
      { responseId: this.response.id, cause: databaseUnavailable() },
      'interrupted a response: its lease expired while the database was unreachable',
    );
    clock.sleep(wordOnLeaseMs, this.#ended.signal).then(
      () => this.#emitInterrupted(),
      () => undefined,
    );
  }

  /** Emits the end before it is stored: this replica and another one end the response in the same way. */
  #emitInterrupted(): void {
    for (const frame of this.#output.assembled().closingFrames({ keepsApprovals: true })) this.log.append(frame);
    const ending = this.#cutEnding();
    this.log.end(endFrames(ending, this.#metadata(ending)));
  }

  /** Another replica has ended this response: writes nothing more, and makes followers reconnect elsewhere. */
  lose(): void {
    this.#cutOff('lost');
    this.log.cut();
  }

  #cutOff(cut: Cut): void {
    this.#cut ??= cut;
    this.#abort.abort(new Error(cut));
  }

  async #run(): Promise<boolean> {
    const ending = await this.#make().catch((error): Ending => this.#failed(error));
    this.#output.close();
    this.#made.abort(over);
    this.#deps.tracing.tell({ 'homeport.response_state': ending.state });
    return this.#finish(ending)
      .catch((error) => {
        this.#deps.log.error({ cause: error, responseId: this.response.id }, 'failed to store the end of a response');
        this.log.cut();
        return false;
      })
      .finally(() => this.#ended.abort(over));
  }

  async #make(): Promise<Ending> {
    if (this.response.kind === 'compaction') return this.#compact();
    const basis = await this.#basis();
    if (this.#cut !== undefined) return this.#cutEnding();
    const isBetweenSteps = basis.findLast(({ type }) => !type.startsWith('data-'))?.type === 'dynamic-tool';
    if (isBetweenSteps && (await this.#isSteered())) return { state: 'complete' };
    const serving = new ServingModel(this.#deps, this.response, basis);
    const emit = (frame: Frame) => this.#output.emit(frame);
    const served = await serving.answer(() => this.#answerWithin(basis, serving), emit, this.#abort.signal);
    this.#modelId = served.modelId;
    const { result } = served;
    if (result.outcome === 'complete') return { state: 'complete', result };
    if (this.#cut !== undefined) return { ...this.#cutEnding(), result };
    return { ...failedEnding(result.error), result };
  }

  async #answerWithin(basis: MessagePart[], serving: ServingModel): Promise<Served> {
    const first = await this.#answer(basis, serving);
    // The window is smaller than its settings say: once more with less of the conversation.
    const isRepeated = isTooLong(first.result) && !this.#abort.signal.aborted;
    return isRepeated ? this.#answer(basis, serving, this.#promptTokens) : first;
  }

  async #answer(basis: MessagePart[], serving: ServingModel, refusedTokens?: number): Promise<Served> {
    await this.#kept;
    const turn = await prepareTurn(
      this.#deps,
      { response: this.response, context: this.#context },
      basis,
      AbortSignal.any([this.#abort.signal, this.#made.signal]),
      { ...this.#preparing, serving },
      refusedTokens,
    );
    this.#modelId = turn.modelId;
    this.#reasoningState = turn.reasoningState;
    this.#historyState = turn.historyState;
    this.#promptTokens = turn.promptTokens;
    this.#assistant = turn.assistant;
    this.#kept = turn.kept;
    return { result: await this.#turn(turn, serving), modelId: turn.modelId };
  }

  /** A summary that a person asked for. */
  async #compact(): Promise<Ending> {
    const turn = { response: this.response, context: this.#context };
    this.#modelId = await makeRequestedSummary(this.#deps, turn, this.#preparing, this.#abort.signal);
    return { state: 'complete' };
  }

  readonly #preparing: PreparingHooks = {
    notify: (notice) => this.#output.notify(notice),
    onWait: (wait) => this.#output.emit({ type: 'data-retry', transient: true, data: wait }),
    onStep: (state) => this.#output.emit({ type: 'data-step', transient: true, data: { name: 'compaction', state } }),
    onCall: (call) => this.#calls.add(call, this.#output.steps),
    beforeDelegateAsks: () => this.#calls.beforeAsking(this.#deps.db.kysely),
  };

  /** A continued response begins with the parts it already has; its log has all of them or nothing. */
  async #replayEarlierParts(): Promise<MessagePart[]> {
    if (this.#hasParts) return [];
    const { parts, usage } = await readMessage(this.#deps.db.kysely, this.response.id);
    this.#earlierUsage = usage;
    this.#output.emit({ type: 'start', messageId: this.response.id });
    this.#output.replay(parts, this.#extendsText);
    this.#hasParts = true;
    this.#calls.startAfter(this.#output.steps);
    return parts;
  }

  #turn(turn: PreparedTurn, serving: ServingModel): Promise<TurnResult> {
    return runPreparedTurn(this.#deps, turn, {
      emit: (frame) => serving.emit(frame, (own) => this.#output.emit(own)),
      isSteered: () => this.#isSteered(),
      saveReasoningState: () => this.#saveReasoningState(),
      checkpoint: (isBeforeAsking) => this.#checkpoint(isBeforeAsking),
      approvals: this.response.decision.isUnattended === true ? undefined : this.#approvals,
      storePicture: pictureStore(this.#deps, this.response),
      signal: this.#abort.signal,
      continued: this.#output.openText,
    });
  }

  /**
   * The parts that the turn continues from. Calls that waited for approval when it was interrupted are finished first.
   */
  async #basis(): Promise<MessagePart[]> {
    const parts = await this.#replayEarlierParts();
    const waiting = waitingCalls(parts);
    if (waiting.length === 0) return parts;
    const turn = { response: this.response, context: this.#context, isAwaited: true };
    const making = AbortSignal.any([this.#abort.signal, this.#made.signal]);
    const tools = await this.#deps.findTools(turn, making, (notice) => this.#output.notify(notice));
    const options = { emit: (frame: Frame) => this.#output.emit(frame), approvals: this.#approvals };
    await finishWaitingCalls(options, waiting, tools, this.#abort.signal);
    await this.#checkpoint(false);
    return this.#output.parts();
  }

  /** While the database is away, the messages wait for the end of the answer. */
  async #isSteered(): Promise<boolean> {
    return takeSteered(this.#deps.db.kysely, this.response).catch((error) => {
      if (!mayPass(error)) throw error;
      return false;
    });
  }

  async #saveReasoningState(): Promise<void> {
    const reasoningState = this.#reasoningState?.toStore();
    if (reasoningState !== undefined) await saveReasoningState(this.#deps, this.response, reasoningState);
  }

  /** `isBeforeAsking`: throws `budget_exhausted` instead of asking the model once more. */
  async #checkpoint(isBeforeAsking: boolean): Promise<void> {
    // First, because after a crash the log decides what there was.
    await this.#deps.responses.storeNow();
    const calls = this.#calls.pending;
    const state = { parts: this.#output.parts(), calls };
    const { budgetResetsAt } = await saveCheckpoint(this.#deps, this.response, state);
    this.#calls.stored(calls);
    if (isBeforeAsking) assertBudget(budgetResetsAt);
    if (isBeforeAsking && this.#leaves) this.handOver();
  }

  #failed(error: unknown): Ending {
    if (this.#cut !== undefined) return this.#cutEnding();
    if (!(error instanceof ApiError) && !isDatabaseUnavailable(error)) {
      this.#deps.log.error({ cause: error, responseId: this.response.id }, 'a response failed');
    }
    return failedEnding(error);
  }

  #cutEnding(): Ending {
    return cutEnding(this.#cut, this.#output.parts());
  }

  async #finish(ending: Ending): Promise<boolean> {
    await this.#kept;
    await this.#deps.responses.stored();
    this.#ending = true;
    const metadata = this.#metadata(ending);
    const ended =
      this.#cut === 'lost' ? undefined : await endWithPatience(this.#deps, this.response, this.#end(ending, metadata));
    logEnd(this.#deps, this.response, {
      state: this.#cut === 'lost' ? 'lost' : ending.state,
      code: ending.error?.code,
      modelId: this.#modelId,
      usage: metadata.usage,
      counted: this.#calls.usage,
      milliseconds: Math.round(systemClock.elapsed() - this.#startedAt),
    });
    this.#output.settle(ending.failure);
    if (ended === undefined) {
      await countLost(this.#deps, this.response, this.#calls.pending);
      this.log.cut();
      return false;
    }
    // Followers come back for the rest.
    if (this.#isHandedOver(ending)) this.log.cut();
    else this.log.end(ended.endFrames);
    if (ending.state === 'complete' && this.response.kind === 'answer')
      titleAfterFirstExchange(this.#deps, this.response, this.#modelId);
    return ended.next !== undefined;
  }

  #end(ending: Ending, metadata: MessageMetadata): ResponseEnd {
    return {
      state: ending.state,
      parts: this.#hasParts
        ? finishParts(this.#output.parts(), { keepsApprovals: ending.state === 'interrupted' })
        : undefined,
      historyState: this.#historyState?.(),
      error: ending.error,
      finish: finishOf(ending),
      usage: metadata.usage,
      modelId: this.#modelId,
      frames: endFrames(ending, metadata),
      seq: this.log.seq,
      pending: this.log.takePending(),
      calls: this.#calls.pending,
      handsOver: this.#isHandedOver(ending),
    };
  }

  /** Calls that wait for a person's decision continue with it. */
  #isHandedOver({ state, error }: Ending): boolean {
    return this.#handsOver && state === 'interrupted' && error === interruptedError && this.response.kind === 'answer';
  }

  #metadata(ending: Ending): MessageMetadata {
    const finish = finishOf(ending);
    const usage = usageWithin(addUsage(this.#earlierUsage, this.#calls.usage), ending.result);
    return {
      status: ending.state,
      ...(this.#modelId === undefined ? {} : { modelId: this.#modelId }),
      ...(usage === undefined ? {} : { usage }),
      ...(this.#assistant === undefined ? {} : { assistant: this.#assistant }),
      ...(ending.error === undefined ? {} : { error: ending.error }),
      finishReason: finish.reason,
      finishDetail: finish.detail,
    };
  }
}
