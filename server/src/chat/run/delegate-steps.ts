import type { Frame } from '@homeport/contracts/chat/frames';
import { isRecord, storableText } from '../model/stream/storable-text.ts';

/** One tool call of a delegate, as a line for the person. */
export type DelegateStep = { tool: string; subject: string; state: 'running' | 'done' | 'failed' };

const keptMax = 200;
const subjectMax = 200;
const subjects = ['command', 'path', 'pattern', 'query', 'url', 'name', 'id'] as const;

/** Collects the steps and the last answer of a delegate from the frames of its turn. */
export class DelegateSteps {
  readonly #steps = new Map<string, DelegateStep>();
  #answer = '';
  #count = 0;

  get answer(): string {
    return this.#answer;
  }

  /** The newest of them. */
  get list(): DelegateStep[] {
    return [...this.#steps.values()];
  }

  /** One line each, while it works. */
  get text(): string {
    const lines = this.list.map(
      ({ tool, subject, state }) => `${state}: ${tool}${subject === '' ? '' : ` ${subject}`}`,
    );
    const left = this.#count - lines.length;
    return [...(left > 0 ? [`(${left} earlier)`] : []), ...lines].join('\n');
  }

  /** Whether something that is shown has changed. */
  hear(frame: Frame): boolean {
    switch (frame.type) {
      case 'start-step':
      case 'data-reasoning':
        this.#answer = '';
        return false;
      case 'text-delta':
        this.#answer += frame.delta;
        return false;
      case 'tool-input-available':
      case 'tool-input-error':
        this.#add(frame.toolCallId, {
          tool: frame.toolName,
          subject: subjectOf(frame.input),
          state: frame.type === 'tool-input-error' ? 'failed' : 'running',
        });
        return true;
      case 'tool-output-available':
        return frame.preliminary !== true && this.#end(frame.toolCallId, 'done');
      case 'tool-output-error':
      case 'tool-output-denied':
        return this.#end(frame.toolCallId, 'failed');
      default:
        return false;
    }
  }

  #add(id: string, step: DelegateStep): void {
    this.#count++;
    this.#steps.set(id, step);
    const [oldest] = this.#steps.keys();
    if (this.#steps.size > keptMax && oldest !== undefined) this.#steps.delete(oldest);
  }

  #end(id: string, state: DelegateStep['state']): boolean {
    const step = this.#steps.get(id);
    if (step !== undefined) step.state = state;
    return step !== undefined;
  }
}

function subjectOf(input: unknown): string {
  if (!isRecord(input)) return '';
  const found = subjects.map((name) => input[name]).find((value) => typeof value === 'string');
  return typeof found === 'string' ? storableText(found.slice(0, subjectMax)).replace(/\s+/g, ' ') : '';
}
