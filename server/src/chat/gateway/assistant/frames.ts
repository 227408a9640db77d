import type {
  ErrorDetails,
  Frame,
  FinishReason as FrameFinish,
  MessageMetadata,
} from '@homeport/contracts/chat/frames';
import { ApiError, errorStatus } from '@homeport/contracts/errors';
import type { CompletionSink } from '../../model/protocol.ts';
import type { Ended } from '../front.ts';

type Source = { number: string; url: string; title: string };

/**
 * Passes the frames of a turn on as one answer: its text and reasoning of all steps. Calls of the assistant's own tools
 * stay inside, as a client would try to run them.
 */
export class AnswerReader {
  readonly #sink: Pick<CompletionSink, 'text' | 'reasoning'>;
  readonly #sources: Source[] = [];
  #text = '';
  #hasReasoning = false;
  #finish: Extract<Frame, { type: 'finish' }> | undefined;
  #failure: ApiError | undefined;

  constructor(sink: Pick<CompletionSink, 'text' | 'reasoning'>) {
    this.#sink = sink;
  }

  read(frame: Frame): void {
    if (frame.type === 'text-start') this.#separate();
    else if (frame.type === 'text-delta') this.#add(frame.delta);
    else if (frame.type === 'reasoning-start' && this.#hasReasoning) this.#sink.reasoning('\n\n');
    else if (frame.type === 'reasoning-delta') this.#reason(frame.delta);
    else if (frame.type === 'source-url') {
      this.#sources.push({ number: frame.sourceId, url: frame.url, title: frame.title ?? frame.url });
    } else if (frame.type === 'error') this.#failure = failureOf(frame);
    else if (frame.type === 'finish') this.#finish = frame;
  }

  /** The end of the answer. Throws the failure with which the turn ended. */
  end(): Ended {
    if (this.#failure !== undefined) throw this.#failure;
    const metadata: MessageMetadata = this.#finish?.messageMetadata ?? {};
    if (metadata.status !== 'complete') throw new ApiError('provider_error', 'The answer was cut off');
    this.#listSources();
    return {
      finishReason: finishOf(metadata),
      toolCalls: [],
      usage: metadata.usage ?? { inputTokens: 0, outputTokens: 0 },
    };
  }

  #add(delta: string): void {
    this.#text += delta;
    this.#sink.text(delta);
  }

  #reason(delta: string): void {
    this.#hasReasoning = true;
    this.#sink.reasoning(delta);
  }

  /** Text of another step begins a paragraph of its own. */
  #separate(): void {
    if (this.#text !== '' && !this.#text.endsWith('\n')) this.#add('\n\n');
  }

  /** Addresses of the sources that the text names as `[n]`, which a client has no other place for. */
  #listSources(): void {
    const cited = this.#sources.filter(({ number }) => this.#text.includes(`[${number}]`));
    if (cited.length === 0) return;
    this.#separate();
    this.#add(cited.map(({ number, url, title }) => `[${number}] ${title}: ${url}`).join('\n'));
  }
}

function failureOf({
  code,
  errorText,
  details,
}: {
  code?: string;
  errorText: string;
  details?: ErrorDetails;
}): ApiError {
  const { providerMessage: _, ...rest } = details ?? {};
  return new ApiError(isErrorCode(code) ? code : 'provider_error', errorText, { details: rest });
}

function isErrorCode(code: string | undefined): code is keyof typeof errorStatus {
  return code !== undefined && Object.hasOwn(errorStatus, code);
}

function finishOf({ finishReason }: MessageMetadata): FrameFinish {
  if (finishReason === 'length') return 'length';
  return finishReason === 'content_filter' || finishReason === 'refusal' ? 'content-filter' : 'stop';
}
