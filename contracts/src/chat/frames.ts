import type { StandInReason } from '../catalogue/catalogue.ts';
import type { AskedQuestions } from './agent.ts';
import type { MessageFinishReason } from './finish-reasons.ts';
import type { Parameters } from './parameters.ts';

/** Codes of the notices in answers. */
export type NoticeCode =
  | 'mcp_drifted'
  | 'mcp_unreachable'
  | 'mcp_sign_in'
  | 'skill_changed'
  | 'tools_unsupported'
  | 'images_unsupported'
  | 'parameter_refused'
  | 'tools_left_out'
  | 'thinking_dropped'
  | 'picture_not_stored'
  | 'turn_budget'
  | 'assistant_unavailable'
  | 'assistant_incomplete';

/**
 * A notice of the service within an answer. Clients word it in their own language by `code`, `reason` and `values`;
 * `message` is English. `details` of `parameter_refused`: the parameter that was left out.
 */
export type NoticeData = {
  code: NoticeCode;
  message: string;
  reason?: string;
  values?: Record<string, string>;
  serverId?: string;
  details?: { parameter: keyof Parameters };
};

/**
 * Frames of the response stream: the part of the AI SDK UI message stream, version 1, that Homeport sends (contract.md
 * section 6). On the wire each is `id: <seq>\ndata: <json>\n\n`; the stream ends with `data: [DONE]`.
 */
export type Frame =
  | { type: 'start'; messageId: string; messageMetadata?: MessageMetadata }
  | { type: 'start-step' }
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string }
  | { type: 'reasoning-start'; id: string }
  | { type: 'reasoning-delta'; id: string; delta: string }
  | { type: 'reasoning-end'; id: string }
  | { type: 'tool-input-start'; toolCallId: string; toolName: string; dynamic: true }
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown; dynamic: true }
  | { type: 'tool-input-error'; toolCallId: string; toolName: string; input: unknown; errorText: string; dynamic: true }
  /** `preliminary`: the tool is still running; the call's next output replaces this one. */
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; dynamic: true; preliminary?: true }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string; dynamic: true }
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string }
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string }
  | { type: 'tool-output-denied'; toolCallId: string }
  /** A file that a tool returned, or a picture that the model made. */
  | { type: 'file'; mediaType: string; url: string }
  | SourceUrlPart
  | SourceDocumentPart
  /** `serverId`: the MCP server to sign in to. */
  | { type: 'data-notice'; data: NoticeData }
  /** A stand-in answers instead of the chosen model; sent before its first output. */
  | { type: 'data-served-by'; data: ServedBy }
  /** The call waits for a person's answers; its output has them. */
  | { type: 'data-question'; data: AskedQuestions }
  /** Time of the next retry, requested by the provider or after its failure; any later frame ends the wait. */
  | { type: 'data-retry'; transient: true; data: ProviderWait }
  /** Slow work before the answer; `compaction`: earlier messages are being summarized. */
  | { type: 'data-step'; transient: true; data: PreparingStep }
  /** The text part with this id, which has just ended, was reasoning. */
  | { type: 'data-reasoning'; transient: true; data: { id: string } }
  /** A further request to the model continues the text part that is open, in the same step. */
  | { type: 'data-continued'; transient: true; data: Record<string, never> }
  /** Which queued input comes next; `transient` keeps it out of the assembled message. */
  | { type: 'data-next'; transient: true; data: { messageId: string; assistantId: string } }
  /** `code` and `details` as in `MessageError`. */
  | { type: 'error'; errorText: string; code?: string; details?: ErrorDetails }
  | { type: 'abort'; reason?: string }
  | { type: 'finish-step' }
  | { type: 'finish'; finishReason?: FinishReason; messageMetadata?: MessageMetadata };

/** `modelId`: the stand-in. */
export type ServedBy = { modelId: string; reason: StandInReason };

/** `retryAt` is an ISO time; with `first_byte` it is the end of the wait for the first byte of the answer. */
export type ProviderWait = { reason: 'rate_limited' | 'unavailable' | 'loading' | 'first_byte'; retryAt: string };

type PreparingStep = { name: 'compaction'; state: 'started' | 'done' | 'failed' };

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** Sent with `start` and `finish`. Token counts are sums over all steps of the response. */
export type MessageMetadata = {
  modelId?: string;
  createdAt?: string;
  status?: MessageStatus;
  usage?: Usage;
  assistant?: { id: string; name: string; version: number };
  error?: MessageError;
  /** How the answer ended, with its maker's explanation. */
  finishReason?: MessageFinishReason | null;
  finishDetail?: string | null;
};

/** Why an answer failed. `message` is English; a client words the code and the details in its reader's language. */
export type MessageError = { code: string; message: string; details?: ErrorDetails };

/** Facts of a failure. `providerMessage` is a stranger's text, without keys and control characters. */
export type ErrorDetails = {
  reason?: string;
  phase?: string;
  status?: number;
  values?: Record<string, string | number>;
  providerMessage?: string;
};

/** Input tokens are the whole input, including what was read from or written to the provider's cache. */
export type Usage = {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens?: number;
  cachedInputTokens?: number;
  cacheWriteTokens?: number;
  /** In millionths of a US dollar; null: not known. */
  cost?: number | null;
  /**
   * Present if different from the sums: input tokens of the first model call, input and output tokens of the last one.
   */
  promptTokens?: number;
  contextTokens?: number;
};

export type MessageStatus = 'complete' | 'streaming' | 'stopped' | 'failed' | 'interrupted';

/** Message parts, as AI SDK UI message parts (contract.md section 5). */
export type TextPart = { type: 'text'; text: string; state?: 'streaming' | 'done' };
export type ReasoningPart = { type: 'reasoning'; id?: string; text: string; state?: 'streaming' | 'done' };
export type FilePart = { type: 'file'; mediaType: string; filename?: string; url: string };
/** A web address that the answer is based on. `sourceId` is its number where the text refers to it as `[n]`. */
export type SourceUrlPart = { type: 'source-url'; sourceId: string; url: string; title?: string };
/** A document that the answer is based on. */
export type SourceDocumentPart = {
  type: 'source-document';
  sourceId: string;
  mediaType: string;
  title: string;
  filename?: string;
};
type StepStartPart = { type: 'step-start' };
export type DynamicToolPart = {
  type: 'dynamic-tool';
  toolName: string;
  toolCallId: string;
  state:
    | 'input-streaming'
    | 'input-available'
    | 'approval-requested'
    | 'approval-responded'
    | 'output-available'
    | 'output-error'
    | 'output-denied';
  input?: unknown;
  /** The JSON text received so far; only while the input is streaming. */
  rawInput?: string;
  output?: unknown;
  /** This is the output so far: the tool is still running. */
  preliminary?: boolean;
  errorText?: string;
  approval?: { id: string; approved?: boolean; reason?: string };
};
type DataPart = { type: `data-${string}`; id?: string; data: unknown };
export type MessagePart =
  | TextPart
  | ReasoningPart
  | FilePart
  | SourceUrlPart
  | SourceDocumentPart
  | StepStartPart
  | DynamicToolPart
  | DataPart;
