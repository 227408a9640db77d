import { createHash } from 'node:crypto';
import type { FakeKind } from './provider-kinds.ts';
import { errorOf } from './provider-shapes.ts';

/** Converts scripts from events of chat completions to events of each protocol. Free-standing: Node built-ins only. */
export type Speaker = (event: unknown) => string;

type Usage = { prompt_tokens: number; completion_tokens: number };
type Delta = {
  content?: string;
  reasoning?: string;
  reasoning_content?: string;
  tool_calls?: { index: number; id?: string; function: { name?: string; arguments?: string } }[];
};
type Chunk = {
  choices?: { delta?: Delta; finish_reason?: string | null }[];
  usage?: Usage;
  error?: { code?: number; message?: string };
};

/** Converts each piece of an answer to a protocol's text. */
type Voice = {
  text(piece: string): string;
  reasoning(piece: string): string;
  call(id: string, name: string): string;
  input(piece: string): string;
  finish(reason: string): string;
  usage(usage: Usage): string;
  error(status: number, message: string): string;
  end(): string;
};

/** Chat completions, as scripts write it. */
export const plainly: Speaker = (event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;

type OnSealed = (callId: string, seals: object[]) => void;

/** `onSealed` is called with a call's seal, which must come back with it, byte for byte. */
export function createSpeaker(kind: FakeKind, onSealed: OnSealed): Speaker {
  if (kind === 'openai') return plainly;
  const voice = voices[kind](onSealed);
  return (event) => {
    if (event === '[DONE]') return voice.end();
    const chunk = parseChunk(event);
    if (chunk.error !== undefined) return voice.error(chunk.error.code ?? 500, chunk.error.message ?? '');
    const [choice] = chunk.choices ?? [];
    const written = choice?.delta === undefined ? '' : sayDelta(voice, choice.delta);
    const finished = typeof choice?.finish_reason === 'string' ? voice.finish(choice.finish_reason) : '';
    return written + finished + (chunk.usage === undefined ? '' : voice.usage(chunk.usage));
  };
}

function parseChunk(event: unknown): Chunk {
  return Object(event);
}

function sayDelta(voice: Voice, delta: Delta): string {
  const thought = delta.reasoning_content ?? delta.reasoning ?? '';
  const calls = (delta.tool_calls ?? []).map(({ id, function: { name = '', arguments: json = '' } }) => {
    return (id === undefined ? '' : voice.call(id, name)) + (json === '' ? '' : voice.input(json));
  });
  return (
    (thought === '' ? '' : voice.reasoning(thought)) +
    (delta.content === undefined || delta.content === '' ? '' : voice.text(delta.content)) +
    calls.join('')
  );
}

/** Stands in for the signature of a thought. */
function sealOf(thought: string): string {
  return createHash('sha256').update(`sealed ${thought}`).digest('base64');
}

const voices: Record<Exclude<FakeKind, 'openai'>, (onSealed: OnSealed) => Voice> = {
  anthropic: anthropicVoice,
  'openai-responses': responsesVoice,
  gemini: geminiVoice,
};

const named = (type: string, members: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

const anthropicStops: Record<string, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

function anthropicVoice(onSealed: OnSealed): Voice {
  let index = -1;
  let open: 'text' | 'thinking' | 'tool_use' | undefined;
  let hasBegun = false;
  let thought = '';
  const delta = (members: object): string => named('content_block_delta', { index, delta: members });
  const begin = (): string => {
    if (hasBegun) return '';
    hasBegun = true;
    const message = {
      id: 'msg_fake',
      type: 'message',
      role: 'assistant',
      content: [],
      model: 'fake',
      stop_reason: null,
    };
    return named('message_start', { message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } } });
  };
  const close = (): string => {
    if (open === undefined) return '';
    const signature = open === 'thinking' ? delta({ type: 'signature_delta', signature: sealOf(thought) }) : '';
    open = undefined;
    return signature + named('content_block_stop', { index });
  };
  const start = (type: typeof open, block: object): string => {
    const closed = begin() + close();
    open = type;
    index += 1;
    return closed + named('content_block_start', { index, content_block: { type, ...block } });
  };
  return {
    text: (piece) => (open === 'text' ? '' : start('text', { text: '' })) + delta({ type: 'text_delta', text: piece }),
    reasoning(piece) {
      const started = open === 'thinking' ? '' : start('thinking', { thinking: '', signature: '' });
      thought += piece;
      return started + delta({ type: 'thinking_delta', thinking: piece });
    },
    call(id, name) {
      if (thought !== '') onSealed(id, [{ type: 'thinking', thinking: thought, signature: sealOf(thought) }]);
      return start('tool_use', { id, name, input: {} });
    },
    input: (piece) => delta({ type: 'input_json_delta', partial_json: piece }),
    finish: (reason) =>
      begin() +
      close() +
      named('message_delta', { delta: { stop_reason: anthropicStops[reason] ?? reason }, usage: {} }),
    usage: ({ prompt_tokens: input_tokens, completion_tokens: output_tokens }) =>
      named('message_delta', { delta: {}, usage: { input_tokens, output_tokens } }),
    error: (status, message) => begin() + named('error', { error: errorOf('anthropic', status, message) }),
    end: () => begin() + close() + named('message_stop'),
  };
}

type Item = Record<string, unknown> & { type: string };

/** The part of a reasoning item that is sent back. */
const returned = ({ type, id, summary, encrypted_content }: Item): object => ({ type, id, summary, encrypted_content });

function responsesVoice(onSealed: OnSealed): Voice {
  const output: Item[] = [];
  let thought = '';
  let written = '';
  let json = '';
  let hasBegun = false;
  let reason = 'stop';
  let totals: Usage | undefined;
  const place = () => ({ output_index: output.length - 1, item_id: output.at(-1)?.id });
  const begin = (): string => {
    if (hasBegun) return '';
    hasBegun = true;
    return named('response.created', {
      response: { id: 'resp_fake', object: 'response', status: 'in_progress', output: [] },
    });
  };
  const close = (): string => {
    const item = output.at(-1);
    if (item === undefined || item.status !== 'in_progress') return '';
    item.status = 'completed';
    if (item.type === 'reasoning') {
      Object.assign(item, { summary: [{ type: 'summary_text', text: thought }], encrypted_content: sealOf(thought) });
    } else if (item.type === 'message') item.content = [{ type: 'output_text', text: written, annotations: [] }];
    else item.arguments = json === '' ? '{}' : json;
    return named('response.output_item.done', { ...place(), item });
  };
  const start = (item: Item): string => {
    const before = begin() + close();
    [written, json] = ['', ''];
    output.push({ id: `item_${output.length}`, status: 'in_progress', ...item });
    return before + named('response.output_item.added', { ...place(), item: output.at(-1) });
  };
  const isOpen = (type: string): boolean => output.at(-1)?.type === type && output.at(-1)?.status === 'in_progress';
  return {
    text(piece) {
      const started = isOpen('message') ? '' : start({ type: 'message', role: 'assistant', content: [] });
      written += piece;
      return started + named('response.output_text.delta', { ...place(), content_index: 0, delta: piece });
    },
    reasoning(piece) {
      const started = isOpen('reasoning') ? '' : start({ type: 'reasoning', summary: [] });
      thought += piece;
      return started + named('response.reasoning_summary_text.delta', { ...place(), summary_index: 0, delta: piece });
    },
    call(id, name) {
      const before = close();
      const sealed = output.filter((item) => item.type === 'reasoning');
      if (sealed.length > 0) onSealed(id, sealed.map(returned));
      return before + start({ type: 'function_call', call_id: id, name, arguments: '' });
    },
    input(piece) {
      json += piece;
      return named('response.function_call_arguments.delta', { ...place(), delta: piece });
    },
    finish(given) {
      reason = given;
      return begin() + close();
    },
    usage(usage) {
      totals = usage;
      return '';
    },
    error: (status, message) =>
      begin() + named('error', { ...errorOf('openai-responses', status, message), type: 'error' }),
    end() {
      const isCut = reason === 'length' || reason === 'content_filter';
      const status = isCut ? 'incomplete' : 'completed';
      const incomplete_details = isCut ? { reason: reason === 'length' ? 'max_output_tokens' : reason } : null;
      const usage = totals && { input_tokens: totals.prompt_tokens, output_tokens: totals.completion_tokens };
      const response = { id: 'resp_fake', object: 'response', status, incomplete_details, output, usage };
      return begin() + close() + named(`response.${status}`, { response });
    },
  };
}

const geminiStops: Record<string, string> = { length: 'MAX_TOKENS', content_filter: 'SAFETY' };

/** Calls are sent whole here; the first of an answer with reasoning is signed. */
function geminiVoice(onSealed: OnSealed): Voice {
  let thought = '';
  let call: { id: string; name: string; json: string } | undefined;
  let isSigned = false;
  const chunk = (members: object): string => `data: ${JSON.stringify({ ...members, modelVersion: 'fake' })}\n\n`;
  const parts = (...list: object[]): string =>
    chunk({ candidates: [{ index: 0, content: { role: 'model', parts: list } }] });
  const close = (): string => {
    if (call === undefined) return '';
    const { id, name, json } = call;
    call = undefined;
    const functionCall = { id, name, args: JSON.parse(json === '' ? '{}' : json) };
    if (isSigned || thought === '') return parts({ functionCall });
    isSigned = true;
    const signedCall = { functionCall, thoughtSignature: sealOf(thought) };
    onSealed(id, [{ text: thought, thought: true }, signedCall]);
    return parts(signedCall);
  };
  return {
    text: (piece) => close() + parts({ text: piece }),
    reasoning(piece) {
      thought += piece;
      return close() + parts({ text: piece, thought: true });
    },
    call(id, name) {
      const closed = close();
      call = { id, name, json: '' };
      return closed;
    },
    input(piece) {
      if (call !== undefined) call.json += piece;
      return '';
    },
    finish: (reason) =>
      close() + chunk({ candidates: [{ index: 0, content: {}, finishReason: geminiStops[reason] ?? 'STOP' }] }),
    usage: (usage) =>
      chunk({
        usageMetadata: { promptTokenCount: usage.prompt_tokens, candidatesTokenCount: usage.completion_tokens },
      }),
    error: (status, message) => chunk({ error: errorOf('gemini', status, message) }),
    end: close,
  };
}
