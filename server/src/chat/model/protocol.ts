import type { FinishReason, Usage } from '@homeport/contracts/frames';
import type { Parameters } from '@homeport/contracts/parameters';
import type { ProviderDialect } from './provider-dialect.ts';
import type { ChatMessage } from './provider-messages.ts';
import type { AnswerSink } from './think-tags.ts';
import type { ToolCall, ToolCallBounds, ToolCallSink } from './tool-call-assembly.ts';

/** Hears an answer while it streams: text, reasoning and tool calls, in the order the model made them. */
export type CompletionSink = AnswerSink & ToolCallSink;

/**
 * What the model wants back as it came within the turn, signatures of its thinking with what they sign: read by the protocol that
 * made it, sent to nobody but the same model.
 */
export type Echo = readonly unknown[];

/** What an answer came to. */
export type CompletionResult = {
  finishReason: FinishReason;
  usage: Usage | undefined;
  toolCalls: ToolCall[];
  echo?: Echo | undefined;
  /** The model paused and goes on when it is sent back what it said so far. */
  isPaused?: true;
};

export type CompletionBounds = ToolCallBounds & { maxEventLength: number; maxTextLength: number };

/** Reads one answer. Every delta costs what it is long, not what came before it. */
export type AnswerParser = {
  /** Decoded text of the event stream, cut anywhere. Throws ApiError. */
  feed(text: string): void;
  /** Passes on what `feed` gathered: neighbouring deltas of one kind between two flushes are one. */
  flush(): void;
  /** An answer in one piece, from servers that do not stream. */
  readWhole(value: unknown): void;
  /** Ends the answer; undefined when it broke off before its end was told. */
  end(): CompletionResult | undefined;
  readonly isDone: boolean;
};

/** A tool as the model sees it. */
export type ToolDefinition = { name: string; description: string; inputSchema: Record<string, unknown> };

/** What a model is asked, whatever its protocol. The first message may be of role `system`. */
export type ModelRequest = {
  modelId: string;
  /** JSON texts of messages, separated by commas, sent before `messages`. */
  history?: string | undefined;
  messages: ChatMessage[];
  tools?: ToolDefinition[] | undefined;
  maxOutputTokens: number;
  /** What somebody set; `maxOutputTokens` of it is in the one above. */
  parameters?: Parameters | undefined;
  /** The same for all turns of a conversation, where a provider finds its cache by a key. */
  cacheKey?: string | undefined;
};

/** One way of asking models, as the rest of this room sees it. */
export type Protocol = {
  /** The address beneath the base URL. */
  path(modelId: string): string;
  /** The request's body; what `dialect` says is refused is left out. */
  body(request: ModelRequest, dialect: ProviderDialect): string;
  createParser(sink: CompletionSink, createId: () => string, bounds: CompletionBounds): AnswerParser;
};
