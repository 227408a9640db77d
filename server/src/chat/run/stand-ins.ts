import type { StandInReason } from '@homeport/contracts/catalogue/catalogue';
import type { Frame, MessagePart, ServedBy } from '@homeport/contracts/chat/frames';
import { servedByIn } from '@homeport/contracts/chat/served-by';
import { ApiError } from '@homeport/contracts/errors';
import { catalogueOwner } from '../../catalogue/catalogue-owner.ts';
import { type ResolvedModel, resolveModel } from '../../catalogue/model-choice.ts';
import { usableStandIns } from '../../catalogue/stand-ins.ts';
import type { Platform } from '../../platform.ts';
import type { ResponseRow } from '../ledger/response-start.ts';
import { standInReasonOf } from '../model/failures/stand-in-reason.ts';
import type { TurnResult } from '../turn/turn-loop.ts';

/** Which model answers a turn: the chosen one or, while nothing of the answer exists, one of its stand-ins. */

type Deps = Pick<Platform, 'config' | 'db'>;
/** How a turn ended, and the model that was asked. */
export type Served = { result: TurnResult; modelId: string };

/** Codes for which a stand-in itself is to blame. */
const unusable: ReadonlySet<string> = new Set([
  'not_found',
  'model_unavailable',
  'credentials_unreadable',
  'blocked_destination',
]);

export class ServingModel {
  readonly #deps: Deps;
  readonly #owner: string;
  readonly #hasOutput: boolean;
  /** Stand-ins that have not been asked. */
  #others: string[] | undefined;
  #current: ServedBy | undefined;
  #isAnnounced: boolean;
  /** True once the present model has put out something. */
  #hasBegun = false;

  /** A continued answer stays with the stand-in that began it. */
  constructor(deps: Deps, response: Pick<ResponseRow, 'owner_id'>, basis: readonly MessagePart[]) {
    this.#deps = deps;
    this.#owner = catalogueOwner(deps.config, response.owner_id);
    this.#hasOutput = basis.some(({ type }) => type !== 'step-start' && !type.startsWith('data-'));
    this.#current = servedByIn(basis);
    this.#isAnnounced = this.#current !== undefined;
  }

  /** The model to ask: the chosen one, or the stand-in whose turn it is. Reads the stand-ins once. */
  async resolve(chosen: ResolvedModel): Promise<ResolvedModel> {
    if (this.#others === undefined) {
      const usable = await usableStandIns(this.#deps, this.#owner, chosen);
      if (!usable.some((id) => id === this.#current?.modelId)) this.#current = undefined;
      this.#others = usable.filter((id) => id !== this.#current?.modelId);
    }
    if (this.#current === undefined) return chosen;
    return resolveModel(this.#deps, this.#owner, { modelId: this.#current.modelId, wasTheirs: true });
  }

  /** True if a stand-in can still answer instead of the model that is asked now. */
  get isReplaceable(): boolean {
    return !this.#hasOutput && (this.#others?.length ?? 0) > 0;
  }

  /** Passes a frame on; before the first one of a stand-in it states who answers. */
  emit(frame: Frame, emit: (frame: Frame) => void): void {
    this.#announce(emit);
    this.#hasBegun = true;
    emit(frame);
  }

  #announce(emit: (frame: Frame) => void): void {
    if (!this.#isAnnounced && this.#current !== undefined) emit({ type: 'data-served-by', data: this.#current });
    this.#isAnnounced = true;
  }

  /**
   * Asks the model, and its stand-ins in turn after failures before the first output. Returns the first answer, or the
   * failure of the first model.
   */
  async answer(ask: () => Promise<Served>, emit: (frame: Frame) => void, signal: AbortSignal): Promise<Served> {
    const first = await settled(ask);
    const because = this.#hasOutput || this.#hasBegun || signal.aborted ? undefined : reasonToSwitch(first);
    if (because === undefined) return returned(first);
    for (let modelId = this.#others?.shift(); modelId !== undefined; modelId = this.#others?.shift()) {
      this.#current = { modelId, reason: because };
      this.#isAnnounced = false;
      const next = await settled(ask);
      const isAnswer = 'result' in next && next.result.outcome !== 'failed';
      if (isAnswer) this.#announce(emit);
      if (isAnswer || this.#hasBegun || signal.aborted) return returned(next);
      if (reasonToSwitch(next) === undefined && !isUnusable(failureOf(next))) break;
    }
    return returned(first);
  }
}

type Failed = { failed: unknown };

function failureOf(ended: Served | Failed): unknown {
  return 'result' in ended ? ended.result.error : ended.failed;
}

function reasonToSwitch(ended: Served | Failed): StandInReason | undefined {
  const failure = failureOf(ended);
  return failure instanceof ApiError ? standInReasonOf(failure) : undefined;
}

function isUnusable(failure: unknown): boolean {
  return failure instanceof ApiError && unusable.has(failure.code);
}

async function settled(ask: () => Promise<Served>): Promise<Served | Failed> {
  try {
    return await ask();
  } catch (failed) {
    return { failed };
  }
}

function returned(ended: Served | Failed): Served {
  if ('failed' in ended) throw ended.failed;
  return ended;
}
