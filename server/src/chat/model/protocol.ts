import type { FinishReason, Usage } from '@homeport/contracts/chat/frames';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { Demands } from './demands.ts';
import type { ProviderDialect } from './provider-dialect.ts';
import type { ChatMessage } from './provider-messages.ts';
import type { AnswerPicture } from './stream/answer-pictures.ts';
import type { AnswerSource } from './stream/answer-sources.ts';
import type { AnswerSink } from './stream/think-tags.ts';
import type { ToolCall, ToolCallBounds, ToolCallSink } from './stream/tool-call-assembly.ts';

/** Receives an answer while it streams: text, reasoning, tool calls, sources and pictures, in the model's order. */
export type CompletionSink = AnswerSink &
  ToolCallSink & {
    /** Absent where sources are not read. */
    source?(source: AnswerSource): void;
    /** Absent where pictures are not read. */
    picture?(picture: AnswerPicture): void;
    /** Receives an item of the step's state (`StepState`) right after the reasoning that it belongs to. */
    state?(item: unknown): void;
  };

/**
 * Opaque state that the model wants returned unchanged within the turn, such as signatures of its thinking: read by the
 * protocol that created it, and sent only to the same model.
 */
export type StepState = readonly unknown[];

/** The result of an answer. */
export type CompletionResult = {
  finishReason: FinishReason;
  /** The model or its maker refused to answer. */
  isRefusal?: true;
  /** The server could not read the model's tool call. */
  isMalformed?: true;
  /** The maker's explanation of the end. */
  finishDetail?: string | undefined;
  usage: Usage | undefined;
  toolCalls: ToolCall[];
  stepState?: StepState;
  /** The model paused. It continues when its output so far is sent back. */
  isPaused?: true;
};

export type CompletionBounds = ToolCallBounds & { maxEventLength: number; maxTextLength: number };

/** Reads one answer. Every delta costs its own length, not that of what came before. */
export type AnswerParser = {
  /** Decoded text of the event stream, cut anywhere. Throws ApiError. */
  feed(text: string): void;
  /** Passes on the output gathered by `feed`; adjacent deltas of one kind between two flushes are merged. */
  flush(): void;
  /** A complete answer, from servers that do not stream. */
  readWhole(value: unknown): void;
  /** Ends the answer; undefined if it broke off before its end. */
  end(): CompletionResult | undefined;
  readonly isDone: boolean;
  /** The reason for the end has come, and nothing after it. */
  readonly hasFinish: boolean;
};

/** A tool as the model sees it. */
export type ToolDefinition = { name: string; description: string; inputSchema: Record<string, unknown> };

/** The request to a model, independent of its protocol. The first message can have the role `system`. */
export type ModelRequest = {
  modelId: string;
  /** JSON texts of messages, separated by commas, sent before `messages`. */
  history?: string;
  messages: ChatMessage[];
  tools?: ToolDefinition[];
  maxOutputTokens: number;
  /** Parameters set by users or administrators, except `maxOutputTokens`, which is above. */
  parameters?: Parameters;
  /** Settings of this request alone. */
  demands?: Demands | undefined;
  /** Abilities of the model, as far as its facts say. */
  abilities?: { tools?: boolean; images?: boolean } | undefined;
  /** The same for all turns of a conversation, where a provider uses a key for its cache. */
  cacheKey?: string;
  /** The model by its provider, address and family: state of its earlier answers is sent to the same one only. */
  source?: string | undefined;
};

/** One protocol as seen by the modules of this folder. */
export type Protocol = {
  /** The address below the base URL. */
  path(modelId: string): string;
  /** The request's body, without what `dialect` marks as refused. */
  body(request: ModelRequest, dialect: ProviderDialect): string;
  createParser(sink: CompletionSink, createId: () => string, bounds: CompletionBounds): AnswerParser;
};
