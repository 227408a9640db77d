import { ApiError } from '@homeport/contracts/errors';
import type { Frame, MessageMetadata, MessagePart, Usage } from '@homeport/contracts/frames';
import { createMessageAssembler, finishParts } from '@homeport/contracts/message-assembly';
import { framesOfParts } from '@homeport/contracts/part-frames';
import type { TurnContext } from '../../conversations/chats.ts';
import { readMessage } from '../../conversations/messages.ts';
import { databaseUnavailable, isDatabaseUnavailable, mayPass } from '../../db/pool.ts';
import type { Deps } from '../../deps.ts';
import type { Approvals, Word } from '../tools/call-run.ts';
import type { FindTools, Notice } from '../tools/find-tools.ts';
import { sumUsage, type TurnResult } from '../turn/turn-loop.ts';
import { finishWaitingCalls, isWaitingCall } from '../turn/waiting-calls.ts';
import { insertApproval, waitForWord } from './approvals.ts';
import type { Claimed, ResponseRow } from './claims.ts';
import { type EndState, endResponse, interruptedError, parkedError, saveCheckpoint } from './response-end.ts';
import { ResponseLog } from './response-log.ts';
import type { RunningResponses } from './running-responses.ts';
import { titleAfterFirstExchange } from './title-exchange.ts';
import { type PreparedTurn, prepareTurn, runPreparedTurn } from './turn-request.ts';

export type RunDeps = Pick<
  Deps,
  'artifactStore' | 'config' | 'db' | 'secrets' | 'egress' | 'clock' | 'log' | 'metrics'
> & {
  responses: RunningResponses;
  findTools: FindTools;
};

/** Why a run was cut: Stop, the service stopping, or another replica having taken over. */
type Cut = 'stopped' | 'interrupted' | 'lost';

type Ending = {
  state: EndState;
  error?: { code: string; message: string } | undefined;
  /** What the request that began the response is answered with, if nothing came before it. */
  failure?: ApiError | undefined;
  result?: TurnResult | undefined;
};

const endRetryMs = 1_000;
const endPatienceMs = 120_000;
/** How long a response waits for a person before it is interrupted; it holds memory and its conversation. */
const waitingMs = 3_600_000;

/**
 * The making of one assistant message on this replica. It runs by itself from construction on: followers come and go through
 * `log`, `stop` ends it, and whatever happens it ends as a row in the database or loses its lease.
 */
export class ResponseRun {
  readonly response: ResponseRow;
  readonly log: ResponseLog;
  /** Resolves at the first frame of the answer (undefined), or with the failure that came before it. */
  readonly begun: Promise<ApiError | undefined>;
  /** Resolves when the response has ended; true when an input waits in the conversation. Never rejects. */
  readonly done: Promise<boolean>;
  readonly #deps: RunDeps;
  readonly #context: TurnContext;
  readonly #abort = new AbortController();
  /** Aborted when nothing more is made, for whatever reason: what tools hold is let go. */
  readonly #made = new AbortController();
  readonly #startedAt = performance.now();
  #begin: (failure: ApiError | undefined) => void = () => undefined;
  #cut: Cut | undefined;
  #ending = false;
  /** False while a response that is continued has not yet what it had before. */
  #hasParts: boolean;
  #modelId: string | undefined;
  /** What a response that is continued has cost before. */
  #earlierUsage: Usage | undefined;
  #hasBegun = false;
  #waiting = 0;
  readonly #notices: Frame[] = [];

  constructor(deps: RunDeps, { response, context }: Omit<Claimed, 'kind'>) {
    this.#deps = deps;
    this.#context = context;
    this.response = response;
    this.log = new ResponseLog(response.first_seq);
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    this.#hasParts = response.generation === 1;
    if (this.#hasParts) this.#emit({ type: 'start', messageId: response.id });
    this.done = this.#run();
  }

  /** True once nothing more is written but the end itself. */
  get ending(): boolean {
    return this.#ending;
  }

  /** True while it waits for a person's word on a tool. */
  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** Stop: aborts the request to the provider now. */
  stop(): void {
    this.#cutOff('stopped');
  }

  /** The service is stopping; what was said so far is kept and the response can be continued. */
  interrupt(): void {
    this.#cutOff('interrupted');
  }

  /** Another replica has ended this response: nothing more may be written, followers are to ask elsewhere. */
  lose(): void {
    this.#cutOff('lost');
    this.log.cut();
  }

  #cutOff(cut: Cut): void {
    this.#cut ??= cut;
    this.#abort.abort(new Error(cut));
  }

  #emit(frame: Frame): void {
    if (frame.type !== 'start' && this.#notices.length > 0) {
      for (const notice of this.#notices.splice(0)) this.log.append(notice);
    }
    this.log.append(frame);
    if (frame.type === 'start' || frame.type === 'start-step') return;
    this.#hasBegun = true;
    this.#begin(undefined);
  }

  async #run(): Promise<boolean> {
    const ending = await this.#make().catch((error): Ending => this.#failed(error));
    this.#made.abort();
    return this.#finish(ending).catch((error) => {
      this.#deps.log.error({ cause: error, responseId: this.response.id }, 'ending a response failed');
      this.log.cut();
      return false;
    });
  }

  async #make(): Promise<Ending> {
    const basis = await this.#basis();
    if (this.#cut !== undefined) return this.#cutEnding();
    const turn = await prepareTurn(
      this.#deps,
      { response: this.response, context: this.#context },
      basis,
      AbortSignal.any([this.#abort.signal, this.#made.signal]),
      (notice) => this.#notify(notice),
    );
    this.#modelId = turn.modelId;
    const result = await this.#turn(turn);
    if (result.outcome === 'complete') return { state: 'complete', result };
    if (this.#cut !== undefined) return { ...this.#cutEnding(), result };
    return { ...failedEnding(result.error), result };
  }

  /** A response that is continued begins with the parts it already has; its log has all of them or nothing. */
  async #replayEarlierParts(): Promise<MessagePart[]> {
    if (this.#hasParts) return [];
    const { parts, usage } = await readMessage(this.#deps.db.kysely, this.response.id);
    this.#earlierUsage = usage;
    this.#emit({ type: 'start', messageId: this.response.id });
    for (const frame of framesOfParts(parts)) this.#emit(frame);
    this.#hasParts = true;
    return parts;
  }

  #turn(turn: PreparedTurn): Promise<TurnResult> {
    return runPreparedTurn(this.#deps, turn, {
      emit: (frame) => this.#emit(frame),
      checkpoint: () => this.#checkpoint(),
      approvals: this.#approvals,
      signal: this.#abort.signal,
    });
  }

  /** The parts that the turn goes on from. Calls that waited for a person when it was interrupted come to their end first. */
  async #basis(): Promise<MessagePart[]> {
    const parts = await this.#replayEarlierParts();
    const waiting = parts.filter(isWaitingCall);
    if (waiting.length === 0) return parts;
    const turn = { response: this.response, context: this.#context };
    const making = AbortSignal.any([this.#abort.signal, this.#made.signal]);
    const tools = await this.#deps.findTools(turn, making, (notice) => this.#notify(notice));
    const options = { emit: (frame: Frame) => this.#emit(frame), approvals: this.#approvals };
    await finishWaitingCalls(options, waiting, tools, this.#abort.signal);
    await this.#checkpoint();
    return this.#parts();
  }

  #checkpoint(): Promise<void> {
    return saveCheckpoint(this.#deps, this.response, this.#parts());
  }

  /** Said with the next frame: a failure before the first one is an HTTP error. */
  #notify(notice: Notice): void {
    const frame: Frame = { type: 'data-notice', data: notice };
    if (this.#hasBegun) this.#emit(frame);
    else this.#notices.push(frame);
  }

  readonly #approvals: Approvals = {
    request: (call) => insertApproval(this.#deps.db.kysely, this.response, call),
    wait: (approvalId, signal) => this.#awaitWord(approvalId, signal),
  };

  /** A response that waits too long, or while the service stops, is interrupted; the word continues it. */
  async #awaitWord(approvalId: string, signal: AbortSignal): Promise<Word> {
    const { responses, clock } = this.#deps;
    const patience = new AbortController();
    this.#waiting += 1;
    if (responses.draining) this.interrupt();
    clock.sleep(waitingMs, patience.signal).then(
      () => this.interrupt(),
      () => undefined,
    );
    try {
      return await waitForWord({ ...this.#deps, signals: responses.signals }, this.response, approvalId, signal);
    } catch (error) {
      if (this.#cut === 'interrupted' || this.#cut === 'lost') return 'parked';
      throw error;
    } finally {
      patience.abort();
      this.#waiting -= 1;
    }
  }

  /** Assembled from the log when they are needed, not at every token. */
  #parts(): MessagePart[] {
    const assembler = createMessageAssembler();
    for (const frame of this.log.frames()) assembler.apply(frame);
    return assembler.parts;
  }

  #failed(error: unknown): Ending {
    if (this.#cut !== undefined) return this.#cutEnding();
    if (!(error instanceof ApiError) && !isDatabaseUnavailable(error)) {
      this.#deps.log.error({ cause: error, responseId: this.response.id }, 'making a response failed');
    }
    return failedEnding(error);
  }

  #cutEnding(): Ending {
    if (this.#cut === 'stopped') return { state: 'stopped' };
    return { state: 'interrupted', error: this.#parts().some(isWaitingCall) ? parkedError : interruptedError };
  }

  #finishedParts(state: EndState): MessagePart[] {
    return finishParts(this.#parts(), { keepsApprovals: state === 'interrupted' });
  }

  async #finish(ending: Ending): Promise<boolean> {
    await this.#deps.responses.stored();
    this.#ending = true;
    const metadata = this.#metadata(ending);
    const ended = await this.#endWithPatience(ending, metadata);
    this.#logEnd(ending, metadata);
    this.#begin(ending.failure);
    if (ended === undefined) {
      this.log.cut();
      return false;
    }
    for (const frame of ended.endFrames) this.log.append(frame);
    this.log.end();
    if (ending.state === 'complete') titleAfterFirstExchange(this.#deps, this.response);
    return ended.next !== undefined;
  }

  /** Ends the response in the database; while that is away it is tried again, for the answer is complete only here. */
  async #endWithPatience(ending: Ending, metadata: MessageMetadata): ReturnType<typeof endResponse> {
    if (this.#cut === 'lost') return undefined;
    const { clock } = this.#deps;
    const giveUpAt = clock.now() + endPatienceMs;
    const pending = this.log.takePending();
    for (;;) {
      try {
        return await endResponse(this.#deps, this.response, {
          state: ending.state,
          parts: this.#hasParts ? this.#finishedParts(ending.state) : undefined,
          error: ending.error,
          usage: metadata.usage,
          modelId: this.#modelId,
          frames: endFrames(ending, metadata),
          seq: this.log.seq,
          pending,
        });
      } catch (error) {
        if (!mayPass(error) || clock.now() > giveUpAt) throw error;
        await clock.sleep(endRetryMs);
      }
    }
  }

  #metadata(ending: Ending): MessageMetadata {
    const own = ending.result?.usage;
    const usage = own === undefined ? this.#earlierUsage : sumUsage(this.#earlierUsage, own);
    return {
      status: ending.state,
      ...(this.#modelId === undefined ? {} : { modelId: this.#modelId }),
      ...(usage === undefined ? {} : { usage }),
      ...(ending.error === undefined ? {} : { error: ending.error }),
    };
  }

  #logEnd(ending: Ending, metadata: MessageMetadata): void {
    const state = this.#cut === 'lost' ? 'lost' : ending.state;
    this.#deps.metrics.responseEnded(state, ending.result?.usage);
    this.#deps.log.info(
      {
        responseId: this.response.id,
        chatId: this.response.chat_id,
        userId: this.response.owner_id,
        state,
        code: ending.error?.code,
        modelId: this.#modelId,
        usage: metadata.usage,
        milliseconds: Math.round(performance.now() - this.#startedAt),
      },
      'response ended',
    );
  }
}

function endFrames(ending: Ending, metadata: MessageMetadata): Frame[] {
  const finishReason = ending.state === 'complete' ? (ending.result?.finishReason ?? 'stop') : 'error';
  const finish: Frame = { type: 'finish', finishReason, messageMetadata: metadata };
  if (ending.state === 'stopped')
    return [
      { type: 'abort', reason: 'stopped' },
      { ...finish, finishReason: 'other' },
    ];
  return ending.error === undefined ? [finish] : [{ type: 'error', errorText: ending.error.message }, finish];
}

function failedEnding(error: unknown): Ending {
  const failure = knownFailure(error);
  return { state: 'failed', error: { code: failure.code, message: failure.message }, failure };
}

function knownFailure(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return isDatabaseUnavailable(error)
    ? databaseUnavailable(error)
    : new ApiError('internal_error', 'Something went wrong on the server', { cause: error });
}
