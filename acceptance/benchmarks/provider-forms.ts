/**
 * The events of the four protocols as their makers send them, for the scripted provider. Free-standing. All text is
 * ASCII, each event is its own HTTP chunk, and a token is put where it belongs without JSON.
 */
export type Form = {
  /** Bytes before the first token. */
  beginning: string;
  /** The `index`-th token. */
  token(index: number, text: string): string;
  ending: string;
};

/** Which protocol a request speaks, by its path. */
export function formOf(path: string): Form {
  if (path.endsWith('/messages')) return anthropic;
  if (path.endsWith('/responses')) return responses;
  return path.includes(':streamGenerateContent') ? gemini : completions;
}

const last = '0\r\n\r\n';

function asChunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

const unnamed = (value: unknown): string => asChunk(`data: ${JSON.stringify(value)}\n\n`);
const named = (value: { type: string; [member: string]: unknown }): string =>
  asChunk(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`);

/** The text around the token of an event that differs in nothing else. */
function constant(event: string): Form['token'] {
  const [before = '', after = ''] = event.split('#####');
  return (_index, text) => before + text + after;
}

const envelope = {
  id: 'chatcmpl-bench0123456789',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'bench-model-2025-01-01',
  system_fingerprint: 'fp_bench',
};
const completions: Form = {
  beginning: '',
  token: constant(
    unnamed({
      ...envelope,
      choices: [{ index: 0, delta: { content: ' #####' }, logprobs: null, finish_reason: null }],
    }),
  ),
  ending:
    unnamed({ ...envelope, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }] }) +
    unnamed({ ...envelope, choices: [], usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } }) +
    asChunk('data: [DONE]\n\n') +
    last,
};

const message = { id: 'msg_01BenchBenchBenchBench', type: 'message', role: 'assistant', model: 'bench', content: [] };
const anthropic: Form = {
  beginning:
    named({
      type: 'message_start',
      message: { ...message, stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } },
    }) +
    named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }) +
    named({ type: 'ping' }),
  token: constant(named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' #####' } })),
  ending:
    named({ type: 'content_block_stop', index: 0 }) +
    named({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 10 },
    }) +
    named({ type: 'message_stop' }) +
    last,
};

const place = { item_id: 'msg_0123456789abcdef0123456789abcdef', output_index: 0, content_index: 0 };
const answer = { id: 'resp_0123456789abcdef0123456789abcdef', object: 'response', model: 'bench', error: null };
const item = { id: place.item_id, type: 'message', role: 'assistant' };
const part = { type: 'output_text', annotations: [], logprobs: [], text: '' };
const filler = 'q8Zr1Wm5Kp0Xs4Yt';
const responses: Form = {
  beginning:
    named({
      type: 'response.created',
      sequence_number: 0,
      response: { ...answer, status: 'in_progress', output: [] },
    }) +
    named({
      type: 'response.output_item.added',
      sequence_number: 1,
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    }) +
    named({ type: 'response.content_part.added', sequence_number: 2, ...place, part }),
  // Each event has its number, and filler of some length that hides the token's.
  token(index, text) {
    const data =
      `{"type":"response.output_text.delta","content_index":0,"delta":" ${text}","item_id":"${place.item_id}",` +
      `"logprobs":[],"obfuscation":"${filler.slice(index % 16)}","output_index":0,"sequence_number":${index + 3}}`;
    return asChunk(`event: response.output_text.delta\ndata: ${data}\n\n`);
  },
  ending:
    named({
      type: 'response.completed',
      sequence_number: 1_000_000,
      response: { ...answer, status: 'completed', output: [], usage: { input_tokens: 10, output_tokens: 10 } },
    }) + last,
};

const gemini: Form = {
  beginning: '',
  // The count of tokens grows from event to event.
  token(index, text) {
    const data =
      `{"candidates": [{"content": {"parts": [{"text": " ${text}"}],"role": "model"},"index": 0}],` +
      `"usageMetadata": {"promptTokenCount": 10,"candidatesTokenCount": ${index + 1},"totalTokenCount": ${index + 11},` +
      '"promptTokensDetails": [{"modality": "TEXT","tokenCount": 10}]},"modelVersion": "bench","responseId": "Bench0123456789"}';
    return asChunk(`data: ${data}\r\n\r\n`);
  },
  ending:
    unnamed({
      candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
    }) + last,
};
