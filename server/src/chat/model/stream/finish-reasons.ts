import { finishDetailMax } from '@homeport/contracts/chat/finish-reasons';
import type { FinishReason } from '@homeport/contracts/chat/frames';
import { droppedConnection, streamedError } from '../failures/provider-errors.ts';
import { isRecord, storableText } from './storable-text.ts';

/** The end of an answer as a server reports it. */
export type ReportedEnd = {
  finishReason: FinishReason;
  /** The model or its maker refused to answer. */
  isRefusal?: true;
  /** The server could not read the model's tool call. */
  isMalformed?: true;
};

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  end: 'stop',
  completed: 'stop',
  finished: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  complete: 'stop',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  content_filter: 'content-filter',
  safety: 'content-filter',
  sensitive: 'content-filter',
  moderation: 'content-filter',
  guardrail_intervened: 'content-filter',
  recitation: 'content-filter',
  language: 'content-filter',
  blocklist: 'content-filter',
  prohibited_content: 'content-filter',
  spii: 'content-filter',
  image_safety: 'content-filter',
  image_prohibited_content: 'content-filter',
  image_recitation: 'content-filter',
  refusal: 'content-filter',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
};
/** The server broke off: the answer is not whole. */
const broken = new Set(['network_error', 'insufficient_system_resource', 'abort', 'aborted', 'timeout']);
const malformed = /malformed_(?:function_call|tool_call|response)|unexpected_tool_call/;

/** Reads the reason in the words of any server. Throws ApiError when it says that the answer broke off. */
export function readReason(reason: string): ReportedEnd {
  const word = reason.slice(0, 200).toLowerCase().replaceAll('-', '_');
  if (word === 'error') throw streamedError(undefined);
  if (broken.has(word)) throw droppedConnection();
  if (word === 'refusal') return { finishReason: 'content-filter', isRefusal: true };
  if (malformed.test(word)) return { finishReason: 'other', isMalformed: true };
  return { finishReason: (Object.hasOwn(reasons, word) ? reasons[word] : undefined) ?? 'other' };
}

/** Some servers send `stop` after tool calls, or `tool_calls` without any. */
export function settleReason(reason: FinishReason, hasCalls: boolean): FinishReason {
  if (hasCalls) return reason === 'length' || reason === 'content-filter' ? reason : 'tool-calls';
  return reason === 'tool-calls' ? 'stop' : reason;
}

/** The maker's explanation, as plain text; undefined without one. */
export function explanationOf(...candidates: readonly unknown[]): string | undefined {
  for (const text of candidates) {
    if (typeof text !== 'string') continue;
    const plain = storableText(text.slice(0, 2 * finishDetailMax))
      .replace(/\r\n?/g, '\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed.
      .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\p{Cf}]/gu, ' ')
      .trim();
    if (plain !== '') return plain.slice(0, finishDetailMax).toWellFormed();
  }
  return undefined;
}

/** The member of a result that carries the explanation. */
export function explained(explanation: string | undefined): { finishDetail?: string } {
  return explanation === undefined ? {} : { finishDetail: explanation };
}

/** The names of the filters that were hit, as Azure lists them with a choice. */
export function filtersOf(results: unknown): string | undefined {
  if (!isRecord(results)) return undefined;
  const names = Object.entries(results)
    .filter(([, result]) => isRecord(result) && (result.filtered === true || result.detected === true))
    .map(([name]) => name);
  return names.length === 0 ? undefined : names.slice(0, 20).join(', ');
}
