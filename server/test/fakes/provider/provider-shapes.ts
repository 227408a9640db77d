import type { FakeKind } from './provider-kinds.ts';

/** Answers that are not event streams, as each protocol's servers send them. Free-standing: Node built-ins only. */

const anthropicTypes: Record<number, string> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};
const geminiStates: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** The error member of a refusal, or of a stream that breaks off. Google's includes the time to retry. */
export function errorOf(kind: FakeKind, status: number, message: string, retryAfter?: string): object {
  if (kind === 'anthropic') {
    return { type: anthropicTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'), message };
  }
  if (kind === 'gemini') {
    const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfter}s` };
    const details = retryAfter === undefined ? {} : { details: [retry] };
    return { code: status, message, status: geminiStates[status] ?? 'UNKNOWN', ...details };
  }
  if (kind === 'openai') return { message, type: 'fake_error', param: null, code: status };
  const [type, code] =
    status === 429
      ? ['rate_limit_error', 'rate_limit_exceeded']
      : status < 500
        ? ['invalid_request_error', null]
        : ['server_error', 'server_error'];
  return { message, type, param: null, code };
}

/** The body of an answer with an error status. */
export function faultText(kind: FakeKind, status: number, message: string, retryAfter?: string): string {
  const error = errorOf(kind, status, message, retryAfter);
  return JSON.stringify(kind === 'anthropic' ? { type: 'error', error, request_id: 'req_fake' } : { error });
}

/** A complete answer with this text, as non-streaming servers send it. */
export function wholeText(kind: FakeKind, text: string, promptTokens: number): string {
  const usage = { input_tokens: promptTokens, output_tokens: 4, total_tokens: promptTokens + 4 };
  const content = [{ type: 'text', text }];
  if (kind === 'anthropic') {
    const message = { id: 'msg_fake', type: 'message', role: 'assistant', model: 'fake', content };
    return JSON.stringify({ ...message, stop_reason: 'end_turn', stop_sequence: null, usage });
  }
  if (kind === 'gemini') {
    const candidate = { index: 0, content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' };
    const usageMetadata = { promptTokenCount: promptTokens, candidatesTokenCount: 4 };
    return JSON.stringify([{ candidates: [candidate], usageMetadata, modelVersion: 'fake' }]);
  }
  if (kind === 'openai-responses') {
    const outputContent = [{ type: 'output_text', text, annotations: [] }];
    const output = [
      { type: 'message', id: 'msg_fake', role: 'assistant', status: 'completed', content: outputContent },
    ];
    return JSON.stringify({ id: 'resp_fake', object: 'response', status: 'completed', error: null, output, usage });
  }
  const choice = { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' };
  const counted = { prompt_tokens: promptTokens, completion_tokens: 4, total_tokens: promptTokens + 4 };
  return JSON.stringify({ id: 'chatcmpl-fake', object: 'chat.completion', choices: [choice], usage: counted });
}
