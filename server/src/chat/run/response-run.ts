import { isDeepStrictEqual } from 'node:util';
import type { Frame, MessageMetadata, MessagePart, Usage } from '@homeport/contracts/chat/frames';
import { createMessageAssembler, finishParts, type MessageAssembler } from '@homeport/contracts/chat/message-assembly';
import { framesOfParts, framesWithOpenText } from '@homeport/contracts/chat/part-frames';
import { ApiError } from '@homeport/contracts/errors';
import type { BlobStore } from '../../artifacts/blob-store.ts';
import type { TurnContext } from '../../conversations/chats.ts';
import { readMessage } from '../../conversations/messages.ts';
import { databaseUnavailable, isDatabaseUnavailable, mayPass } from '../../db/failures.ts';
import type { Documents } from '../../documents/documents.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Platform } from '../../platform.ts';
import { assertBudget } from '../../usage/budget-rule.ts';
import { countCalls } from '../../usage/ledger.ts';
import { interruptedError } from '../ledger/interruption.ts';
import { type EndState, parkedError, questionError, type ResponseEnd } from '../ledger/response-end.ts';
import type { Claimed, ResponseRow } from '../ledger/response-start.ts';
import { saveCheckpoint, saveReasoningState } from '../ledger/running-state.ts';
import { takeSteered } from '../ledger/steering.ts';
import { ResponseLog } from '../log/response-log.ts';
import type { ReasoningState } from '../model/reasoning-state.ts';
import { addUsage } from '../model/usage.ts';
import type { FindTools, Notice } from '../tools/find-tools.ts';
import type { ContinuedText } from '../turn/step-writer.ts';
import type { TurnResult } from '../turn/turn-loop.ts';
import { finishWaitingCalls, waitingCalls } from '../turn/waiting-calls.ts';
import { AnswerSize, answerTooLong } from './answer-size.ts';
import { pictureStore } from './picture-store.ts';
import { makeRequestedSummary } from './requested-summary.ts';
import { createRunApprovals, type RunApprovals } from './run-approvals.ts';
import { RunCalls } from './run-calls.ts';
import {
  type Ending,
  endFrames,
  endWithPatience,
  failedEnding,
  finishOf,
  isTooLong,
  usageWithin,
} from './run-ending.ts';
import type { RunningResponses } from './running-responses.ts';
import { type Served, ServingModel } from './stand-ins.ts';
import { titleAfterFirstExchange } from './title-exchange.ts';
import { type PreparedTurn, type PreparingHooks, prepareTurn, runPreparedTurn } from './turn-request.ts';

export type RunDeps = Pick<
  Platform,
  'config' | 'db' | 'secrets' | 'egress' | 'clock' | 'log' | 'metrics' | 'tracing'
> & { artifactStore: BlobStore; documents: Documents } & {
  responses: RunningResponses;
  findTools: FindTools;
};

/** Why a run was cut off: Stop, the service stopping, another replica having taken over, or the largest answer reached. */
type Cut = 'stopped' | 'interrupted' | 'lost' | 'full';

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
  readonly log: ResponseLog;
  /** Resolves at the answer's first frame (undefined), or with the failure that came before it. */
  readonly begun: Promise<ApiError | undefined>;
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
  #begin: (failure: ApiError | undefined) => void = () => undefined;
  #cut: Cut | undefined;
  #isMade = false;
  #ending = false;
  #handsOver = false;
  /** True when the service is stopping and another replica continues after this step. */
  #leaves = false;
  /** False while a continued response does not yet have its earlier parts. */
  #hasParts: boolean;
  #modelId: string | undefined;
  #reasoningState: ReasoningState | undefined;
  #historyState: PreparedTurn['historyState'] | undefined;
  #assistant: MessageMetadata['assistant'];
  readonly #extendsText: boolean;
  /** The text at the end of a continued response, until its part is closed. */
  #openText: ContinuedText | undefined;
  /** The usage of a continued response so far. */
  #earlierUsage: Usage | undefined;
  readonly #calls: RunCalls;
  readonly #approvals: RunApprovals;
  /** How many steps the log has. */
  #steps = 0;
  #hasBegun = false;
  /** Resolves when the prompt context is stored. */
  #kept = Promise.resolve();
  readonly #notices: Frame[] = [];
  readonly #size = new AnswerSize();

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
    this.log = new ResponseLog(response.first_seq);
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    this.#hasParts = response.generation === 1;
    if (this.#hasParts) this.#emit({ type: 'start', messageId: response.id });
    const facts = { 'homeport.response_id': response.id, 'homeport.response_kind': response.kind };
    this.done = deps.tracing.span({ kind: 'internal', name: 'response', facts }, () => this.#run());
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
    if (this.#isMade || this.#cut !== undefined) return;
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
    const assembler = this.#assembled();
    for (const frame of assembler.closingFrames({ keepsApprovals: true })) this.log.append(frame);
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

  #emit(frame: Frame): void {
    // A tool that was abandoned can still emit frames.
    const fitting = this.#isMade ? undefined : this.#size.take(frame);
    if (fitting !== undefined) this.#append(fitting);
    if (this.#size.isFull) this.#cutOff('full');
  }

  #append(frame: Frame): void {
    if (frame.type !== 'start' && this.#notices.length > 0) {
      for (const notice of this.#notices.splice(0)) this.log.append(notice);
    }
    if (frame.type === 'start-step' || frame.type === 'data-continued') this.#steps++;
    if (frame.type === 'text-end' && frame.id === this.#openText?.id) this.#openText = undefined;
    this.log.append(frame);
    if (frame.type === 'start' || frame.type === 'start-step') return;
    this.#hasBegun = true;
    this.#begin(undefined);
  }

  async #run(): Promise<boolean> {
    const ending = await this.#make().catch((error): Ending => this.#failed(error));
    if (this.#openText !== undefined) this.#append({ type: 'text-end', id: this.#openText.id });
    this.#isMade = true;
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
    const emit = (frame: Frame) => this.#emit(frame);
    const served = await serving.answer(() => this.#answerWithin(basis, serving), emit, this.#abort.signal);
    this.#modelId = served.modelId;
    const { result } = served;
    if (result.outcome === 'complete') return { state: 'complete', result };
    if (this.#cut !== undefined) return { ...this.#cutEnding(), result };
    return { ...failedEnding(result.error), result };
  }

  async #answerWithin(basis: MessagePart[], serving: ServingModel): Promise<Served> {
    const first = await this.#answer(basis, serving, false);
    // The window is smaller than its settings say: once more with less of the conversation.
    return isTooLong(first.result) && !this.#abort.signal.aborted ? this.#answer(basis, serving, true) : first;
  }

  async #answer(basis: MessagePart[], serving: ServingModel, isOverflowing: boolean): Promise<Served> {
    await this.#kept;
    const turn = await prepareTurn(
      this.#deps,
      { response: this.response, context: this.#context },
      basis,
      AbortSignal.any([this.#abort.signal, this.#made.signal]),
      { ...this.#preparing, serving },
      isOverflowing,
    );
    this.#modelId = turn.modelId;
    this.#reasoningState = turn.reasoningState;
    this.#historyState = turn.historyState;
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
    notify: (notice) => this.#notify(notice),
    onWait: (wait) => this.#emit({ type: 'data-retry', transient: true, data: wait }),
    onStep: (state) => this.#emit({ type: 'data-step', transient: true, data: { name: 'compaction', state } }),
    onCall: (call) => this.#calls.add(call, this.#steps),
    beforeDelegateAsks: () => this.#calls.beforeAsking(this.#deps.db.kysely),
  };

  /** A continued response begins with the parts it already has; its log has all of them or nothing. */
  async #replayEarlierParts(): Promise<MessagePart[]> {
    if (this.#hasParts) return [];
    const { parts, usage } = await readMessage(this.#deps.db.kysely, this.response.id);
    this.#earlierUsage = usage;
    this.#emit({ type: 'start', messageId: this.response.id });
    this.#size.add(parts);
    const continued = this.#extendsText ? framesWithOpenText(parts) : undefined;
    this.#openText = continued?.open;
    for (const frame of continued?.frames ?? framesOfParts(parts)) this.#append(frame);
    if (this.#size.isFull) this.#cutOff('full');
    this.#hasParts = true;
    this.#calls.startAfter(this.#steps);
    return parts;
  }

  #turn(turn: PreparedTurn, serving: ServingModel): Promise<TurnResult> {
    return runPreparedTurn(this.#deps, turn, {
      emit: (frame) => serving.emit(frame, (own) => this.#emit(own)),
      isSteered: () => this.#isSteered(),
      saveReasoningState: () => this.#saveReasoningState(),
      checkpoint: (isBeforeAsking) => this.#checkpoint(isBeforeAsking),
      approvals: this.response.decision.isUnattended === true ? undefined : this.#approvals,
      storePicture: pictureStore(this.#deps, this.response),
      signal: this.#abort.signal,
      continued: this.#openText,
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
    const tools = await this.#deps.findTools(turn, making, (notice) => this.#notify(notice));
    const options = { emit: (frame: Frame) => this.#emit(frame), approvals: this.#approvals };
    await finishWaitingCalls(options, waiting, tools, this.#abort.signal);
    await this.#checkpoint(false);
    return this.#parts();
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
    const state = { parts: this.#parts(), calls };
    const { budgetResetsAt } = await saveCheckpoint(this.#deps, this.response, state);
    this.#calls.stored(calls);
    if (isBeforeAsking) assertBudget(budgetResetsAt);
    if (isBeforeAsking && this.#leaves) this.handOver();
  }

  /** Sent with the next frame: a failure before the first one is an HTTP error. */
  #notify(notice: Notice): void {
    const frame: Frame = { type: 'data-notice', data: notice };
    if (this.#hasBegun) this.#emit(frame);
    // A turn can be prepared once more before its first frame.
    else if (!this.#notices.some((noticed) => isDeepStrictEqual(noticed, frame))) this.#notices.push(frame);
  }

  /** Assembled from the log on demand, not at every token. */
  #assembled(): MessageAssembler {
    const assembler = createMessageAssembler();
    for (const frame of this.log.frames()) assembler.apply(frame);
    return assembler;
  }

  #parts(): MessagePart[] {
    return this.#assembled().parts;
  }

  #failed(error: unknown): Ending {
    if (this.#cut !== undefined) return this.#cutEnding();
    if (!(error instanceof ApiError) && !isDatabaseUnavailable(error)) {
      this.#deps.log.error({ cause: error, responseId: this.response.id }, 'a response failed');
    }
    return failedEnding(error);
  }

  #cutEnding(): Ending {
    if (this.#cut === 'stopped') return { state: 'stopped' };
    if (this.#cut === 'full') return failedEnding(answerTooLong());
    const [waiting] = waitingCalls(this.#parts());
    if (waiting === undefined) return { state: 'interrupted', error: interruptedError };
    return { state: 'interrupted', error: waiting.asked.policy === 'ask' ? parkedError : questionError };
  }

  #finishedParts(state: EndState): MessagePart[] {
    return finishParts(this.#parts(), { keepsApprovals: state === 'interrupted' });
  }

  async #finish(ending: Ending): Promise<boolean> {
    await this.#kept;
    await this.#deps.responses.stored();
    this.#ending = true;
    const metadata = this.#metadata(ending);
    const ended =
      this.#cut === 'lost' ? undefined : await endWithPatience(this.#deps, this.response, this.#end(ending, metadata));
    this.#logEnd(ending, metadata);
    this.#begin(ending.failure);
    if (ended === undefined) {
      await this.#countLost();
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
      parts: this.#hasParts ? this.#finishedParts(ending.state) : undefined,
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

  /** Another replica has ended the response; requests made here still count, once. */
  async #countLost(): Promise<void> {
    const { db, log } = this.#deps;
    await countCalls(db.kysely, this.#calls.pending).catch((error) =>
      log.warn(
        { cause: error, responseId: this.response.id },
        'failed to record the model calls of a response that another replica has taken over',
      ),
    );
  }

  #logEnd(ending: Ending, metadata: MessageMetadata): void {
    const state = this.#cut === 'lost' ? 'lost' : ending.state;
    this.#deps.metrics.responseEnded(state, this.#calls.usage);
    this.#deps.log.info(
      {
        responseId: this.response.id,
        chatId: this.response.chat_id,
        userId: this.response.owner_id,
        state,
        code: ending.error?.code,
        modelId: this.#modelId,
        usage: metadata.usage,
        milliseconds: Math.round(systemClock.elapsed() - this.#startedAt),
      },
      'response ended',
    );
  }
}
