import type { StepState } from './protocol.ts';
import type { Step } from './provider-messages.ts';
import { isRecord } from './stream/storable-text.ts';

/** Larger state is not stored: the turn uses it, but a continued response goes without it. */
const storedMax = 8 * 1024 * 1024;
/** More of it does not go with the history. */
const historyMax = 512 * 1024;

/** State of the steps of an earlier answer, for the model that made it. */
export type HistoryState = { source: string; steps: ReadonlyMap<string, StepState> };

type Stored = { source: string; steps: Record<string, StepState> };

/**
 * Opaque state that the model wants returned with the steps of one response, by the id of each step's first call.
 * Stored with the response, outside every API, and valid only for the same model of the same provider.
 */
export class ReasoningState {
  readonly #source: string;
  readonly #steps = new Map<string, StepState>();
  readonly #texts: string[] = [];
  #length = 0;
  #isChanged = false;
  /** True if there were some of another model. */
  readonly isDropped: boolean = false;

  /** `source` names the model; `stored` is the result of `toStore`. */
  constructor(source: string, stored: string | null) {
    this.#source = source;
    const known = stored === null ? undefined : parseStored(stored);
    if (known === undefined) return;
    this.isDropped = known.source !== source;
    if (this.isDropped) return;
    for (const [callId, stepState] of Object.entries(known.steps)) this.#keep(callId, stepState);
  }

  add(callId: string, stepState: StepState): void {
    this.#keep(callId, stepState);
    this.#isChanged = true;
  }

  /** The steps, each with what its model wants back. */
  into(steps: readonly Step[]): Step[] {
    return steps.map((step) => ({ ...step, stepState: this.#steps.get(step.calls[0]?.id ?? '') }));
  }

  /** The steps that `source` is sent with the history; the newest ones are left out if they are too large. */
  historyFor(source: string): HistoryState | undefined {
    const steps = new Map<string, StepState>();
    let length = 0;
    for (const [callId, stepState] of this.#steps) {
      length += JSON.stringify(stepState).length;
      if (length > historyMax) break;
      steps.set(callId, stepState);
    }
    return steps.size === 0 ? undefined : { source, steps };
  }

  /** The text to store; undefined if it is already stored. */
  toStore(): string | undefined {
    if (!this.#isChanged) return undefined;
    this.#isChanged = false;
    return `{"source":${JSON.stringify(this.#source)},"steps":{${this.#texts.join(',')}}}`;
  }

  #keep(callId: string, stepState: StepState): void {
    this.#steps.set(callId, stepState);
    const text = `${JSON.stringify(callId)}:${JSON.stringify(stepState)}`;
    if (this.#length + text.length > storedMax) return;
    this.#length += text.length;
    this.#texts.push(text);
  }
}

/** The text is our own; an older format is ignored. */
function parseStored(text: string): Stored | undefined {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || typeof value.source !== 'string' || !isRecord(value.steps)) return undefined;
  const steps = Object.entries(value.steps).filter((entry): entry is [string, StepState] => Array.isArray(entry[1]));
  return { source: value.source, steps: Object.fromEntries(steps) };
}
