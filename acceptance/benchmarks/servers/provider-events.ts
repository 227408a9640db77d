/**
 * Events of the chat completions protocol, for the scripted provider. All text is ASCII, each event is its own HTTP
 * chunk, and a token is inserted without JSON.
 */

const last = '0\r\n\r\n';

function asChunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

const event = (value: unknown): string => asChunk(`data: ${JSON.stringify(value)}\n\n`);
const envelope = {
  id: 'chatcmpl-bench0123456789',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'bench-model-2025-01-01',
  system_fingerprint: 'fp_bench',
};
const choice = { index: 0, delta: {}, logprobs: null, finish_reason: null };
const [before = '', after = ''] = event({
  ...envelope,
  choices: [{ ...choice, delta: { content: ' #####' } }],
}).split('#####');

/** The event of one token. */
export function tokenEvent(text: string): string {
  return before + text + after;
}

/** Events and final chunk after the last token. */
export const ending =
  event({ ...envelope, choices: [{ ...choice, finish_reason: 'stop' }] }) +
  event({ ...envelope, choices: [], usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } }) +
  asChunk('data: [DONE]\n\n') +
  last;
