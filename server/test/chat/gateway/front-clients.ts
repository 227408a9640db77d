import type { Json } from '../../app.ts';

/** Minimal clients of the three front protocols, whose answers are compared with each other. */

export const fronts = ['chat', 'responses', 'messages'] as const;
export type Front = (typeof fronts)[number];

export type FrontAnswer = {
  status: number;
  text: string;
  reasoning: string;
  calls: { id: string; name: string; input: Json }[];
  finish: 'stop' | 'length' | 'calls' | 'refused' | undefined;
  usage: { input: number; output: number } | undefined;
  /** The error of the answer, or of the stream after it began. */
  error: Json;
  /** The whole answer: JSON, or the events. */
  raw: string;
  /** The assistant's turn, to be sent back. */
  turn: Json[];
};

export type Question = {
  model: string;
  text?: string;
  stream?: boolean;
  tool?: string;
  extra?: Json;
  history?: Json[];
};
type Send = (path: string, body: Json) => Promise<Response>;

export const paths: Record<Front, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};

const schema = { type: 'object', properties: { number: { type: 'integer' } } };

const bodies: Record<Front, (question: Question) => Json> = {
  chat: ({ text = 'Hello', tool, history = [] }) => ({
    messages: [{ role: 'user', content: text }, ...history],
    stream_options: { include_usage: true },
    ...(tool === undefined ? {} : { tools: [{ type: 'function', function: { name: tool, parameters: schema } }] }),
  }),
  responses: ({ text = 'Hello', tool, history = [] }) => ({
    input: [{ role: 'user', content: text }, ...history],
    include: ['reasoning.encrypted_content'],
    ...(tool === undefined ? {} : { tools: [{ type: 'function', name: tool, parameters: schema }] }),
  }),
  messages: ({ text = 'Hello', tool, history = [] }) => ({
    max_tokens: 1000,
    messages: [{ role: 'user', content: text }, ...history],
    ...(tool === undefined ? {} : { tools: [{ name: tool, input_schema: schema }] }),
  }),
};

/** The results of calls, as each front sends them back after the turn. */
export const results: Record<Front, (calls: FrontAnswer['calls']) => Json[]> = {
  chat: (calls) => calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'It is 42' })),
  responses: (calls) => calls.map(({ id }) => ({ type: 'function_call_output', call_id: id, output: 'It is 42' })),
  messages: (calls) => [
    {
      role: 'user',
      content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'It is 42' })),
    },
  ],
};

export async function ask(send: Send, front: Front, question: Question): Promise<FrontAnswer> {
  const { model, stream = false, extra = {} } = question;
  const response = await send(paths[front], { model, ...bodies[front](question), stream, ...extra });
  const raw = await response.text();
  const { status } = response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const events = isStream ? eventsOf(raw) : [];
  const whole = isStream ? wholeOf[front](events) : JSON.parse(raw);
  const streamed = events.find((event) => event.error !== undefined || event.type === 'response.failed');
  const error = whole?.error ?? streamed?.error ?? streamed?.response?.error;
  return { ...(whole === undefined || error ? nothing : readers[front](whole)), status, raw, error };
}

const nothing = { text: '', reasoning: '', calls: [], finish: undefined, usage: undefined, turn: [] };

export function eventsOf(text: string): Json[] {
  return text
    .split('\n\n')
    .flatMap((event) => event.split('\n').filter((line) => line.startsWith('data: {')))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

/** The answer as a client puts it together from its events. */
const wholeOf: Record<Front, (events: Json[]) => Json> = {
  chat(events) {
    const message: Json = { role: 'assistant', content: '', reasoning_content: '', tool_calls: [] };
    let finish: Json;
    let usage: Json;
    for (const { choices, usage: told } of events) {
      usage = told ?? usage;
      const [choice] = choices ?? [];
      if (choice === undefined) continue;
      finish = choice.finish_reason ?? finish;
      message.content += choice.delta.content ?? '';
      message.reasoning_content += choice.delta.reasoning_content ?? '';
      for (const { index, id, function: called } of choice.delta.tool_calls ?? []) {
        message.tool_calls[index] ??= { id, type: 'function', function: { name: called.name, arguments: '' } };
        message.tool_calls[index].function.arguments += called.arguments ?? '';
      }
    }
    return finish === undefined ? undefined : { choices: [{ message, finish_reason: finish }], usage };
  },
  responses: (events) => events.find(({ type }) => /^response\.(?:completed|incomplete)$/.test(type))?.response,
  messages(events) {
    const message = events.find(({ type }) => type === 'message_start')?.message;
    const json = new Map<number, string>();
    for (const { type, index, content_block: block, delta, usage } of events) {
      if (type === 'content_block_start') message.content[index] = block;
      if (type === 'content_block_delta') {
        const open = message.content[index];
        if (delta.type === 'text_delta') open.text += delta.text;
        if (delta.type === 'thinking_delta') open.thinking += delta.thinking;
        if (delta.type === 'signature_delta') open.signature = delta.signature;
        if (delta.type === 'input_json_delta') json.set(index, `${json.get(index) ?? ''}${delta.partial_json}`);
      }
      if (type === 'content_block_stop' && json.has(index))
        message.content[index].input = JSON.parse(json.get(index) ?? '');
      if (type === 'message_delta') Object.assign(message, delta, { usage });
    }
    return events.at(-1)?.type === 'message_stop' ? message : undefined;
  },
};

type Read = Omit<FrontAnswer, 'status' | 'raw' | 'error'>;

const readers: Record<Front, (whole: Json) => Read> = {
  chat({ choices: [{ message, finish_reason: reason }], usage }) {
    const calls = (message.tool_calls ?? []).map(({ id, function: called }: Json) => ({
      id,
      name: called.name,
      input: JSON.parse(called.arguments),
    }));
    const finish = { stop: 'stop', length: 'length', tool_calls: 'calls', content_filter: 'refused' } as const;
    return {
      text: message.content ?? '',
      reasoning: message.reasoning_content ?? '',
      calls,
      finish: finish[reason as keyof typeof finish],
      usage: usage && { input: usage.prompt_tokens, output: usage.completion_tokens },
      turn: [message],
    };
  },
  responses({ output, status, incomplete_details: details, usage }) {
    const of = (type: string) => output.filter((item: Json) => item.type === type);
    const calls = of('function_call').map(({ call_id: id, name, arguments: json }: Json) => ({
      id,
      name,
      input: JSON.parse(json),
    }));
    const cut = details?.reason === 'max_output_tokens' ? 'length' : 'refused';
    return {
      text: of('message')
        .map(({ content }: Json) => content.map((part: Json) => part.text).join(''))
        .join(''),
      reasoning: of('reasoning')
        .flatMap(({ summary }: Json) => summary.map((part: Json) => part.text))
        .join(''),
      calls,
      finish: status === 'completed' ? (calls.length > 0 ? 'calls' : 'stop') : cut,
      usage: { input: usage.input_tokens, output: usage.output_tokens },
      turn: output,
    };
  },
  messages({ content, stop_reason: reason, usage }) {
    const of = (type: string) => content.filter((block: Json) => block.type === type);
    const finish = { end_turn: 'stop', max_tokens: 'length', tool_use: 'calls', refusal: 'refused' } as const;
    return {
      text: of('text')
        .map(({ text }: Json) => text)
        .join(''),
      reasoning: of('thinking')
        .map(({ thinking }: Json) => thinking)
        .join(''),
      calls: of('tool_use').map(({ id, name, input }: Json) => ({ id, name, input })),
      finish: finish[reason as keyof typeof finish],
      usage: { input: usage.input_tokens, output: usage.output_tokens },
      turn: [{ role: 'assistant', content }],
    };
  },
};
