import { textSeparator } from '../../../../contracts/test/text-separator.ts';
import { awkwardSteps } from '../awkward-text.ts';
import { previewAppSource } from '../preview-app.ts';

/** One action of the fake provider on a request: pieces sent in order. Free-standing: Node built-ins only. */
export type FakeStep =
  /** One event; objects are sent as JSON. */
  | { event: unknown }
  /** The same in two writes, torn within a character if there is one of several bytes. */
  | { torn: unknown }
  /** Bytes as given, in one write. */
  | { raw: string | Uint8Array }
  /** The body of a refusal, in the protocol's form. */
  | { fault: { status: number; text: string } }
  /** A complete answer, in the protocol's form, as non-streaming servers send it. */
  | { whole: string }
  | { wait: number }
  /** Holds all answers and waits for `release()`. */
  | { hold: true }
  /** Waits for the next `release()`, without delaying any other answer. */
  | { pause: true }
  /** Breaks the connection. */
  | { drop: true }
  /** Sends nothing more and keeps the connection. */
  | { hang: true }
  /** `count` words, paced at `rate` per second (0: as fast as the connection takes them). */
  | { words: number; rate: number; stamp?: boolean };

export type FakeScript = {
  status?: number;
  headers?: Record<string, string>;
  /** Without a response head at all when false. */
  head?: boolean;
  steps: FakeStep[];
};

export type FakeChatBody = {
  model?: string;
  messages?: { role?: string; content?: unknown; tool_call_id?: string }[];
  tools?: { function?: { name?: string } }[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  max_tokens?: number;
  max_completion_tokens?: number;
  reasoning_effort?: string;
};

export type FakeCall = { body: FakeChatBody; headers: Record<string, string>; count: number };

type Maker = (call: FakeCall, ...values: number[]) => FakeScript;

export const promptTokens = (body: FakeChatBody): number => Math.ceil(JSON.stringify(body.messages ?? []).length / 4);

/** One chunk of a completion, as an event. */
export function chunk(delta: Record<string, unknown>, finishReason: string | null = null): FakeStep {
  return { event: { ...envelope, choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] } };
}

const envelope = {
  id: 'chatcmpl-fake0123456789',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'fake-model-2025-01-01',
  system_fingerprint: 'fp_fake',
};

/** Text and whole words as deltas. */
export function say(text: string): FakeStep[] {
  return (text.match(/\s*\S+\s*$|\s*\S+/g) ?? []).map((word) => chunk({ content: word }));
}

/** Reasoning as deltas, in the given member. */
export function think(text: string, member: 'reasoning' | 'reasoning_content' = 'reasoning_content'): FakeStep[] {
  return (text.match(/\s*\S+/g) ?? []).map((word) => chunk({ [member]: word }));
}

/** The usual end: finish reason, usage in a chunk of its own on request, `[DONE]`. */
export function finish(call: FakeCall, outputTokens: number, reason = 'stop', reasoningTokens = 0): FakeStep[] {
  const usage = {
    prompt_tokens: promptTokens(call.body),
    completion_tokens: outputTokens,
    total_tokens: promptTokens(call.body) + outputTokens,
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
  const wantsUsage = call.body.stream_options?.include_usage === true;
  return [
    chunk({}, reason),
    ...(wantsUsage ? [{ event: { ...envelope, choices: [], usage } }] : []),
    { event: '[DONE]' },
  ];
}

/** One tool call, streamed: id and name first, then the arguments in pieces. */
export function callTool(index: number, id: string, name: string, args: string, pieceLength = 8): FakeStep[] {
  const pieces = args.match(new RegExp(`[^]{1,${pieceLength}}`, 'g')) ?? [];
  return [
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    ...pieces.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

/** An error answer; `text` is the provider's message. */
export function failure(status: number, text = 'scripted failure', headers: Record<string, string> = {}): FakeScript {
  return { status, headers: { 'content-type': 'application/json', ...headers }, steps: [{ fault: { status, text } }] };
}

/** A streamed answer of status 200. */
export function stream(steps: FakeStep[]): FakeScript {
  return { steps };
}

const start = chunk({ role: 'assistant', content: '' });

function lastText(body: FakeChatBody): string {
  const content = body.messages?.at(-1)?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (part?.type === 'text' ? String(part.text) : '')).join('');
}

function answerTool(call: FakeCall, calls: number): FakeScript {
  const name = call.body.tools?.[0]?.function?.name;
  if (call.body.messages?.at(-1)?.role === 'tool' || name === undefined) {
    const results = call.body.messages?.filter((message) => message.role === 'tool').length ?? 0;
    return stream([start, ...say(`Done after ${results} tool results.`), ...finish(call, 5)]);
  }
  const asked = Array.from({ length: calls }, (_, index) =>
    callTool(index, `call_${call.count}_${index}`, name, JSON.stringify({ number: index })),
  );
  return stream([start, ...asked.flat(), ...finish(call, 20, 'tool_calls')]);
}

/**
 * Reasons before each of the given number of steps with tools, one or two calls each, slowly enough to be cut at any
 * place. Its reasoning and the ids of its calls, which are among their arguments, never repeat.
 */
function thinkAndCall(call: FakeCall, steps: number): FakeScript {
  const messages = call.body.messages ?? [];
  const asked = messages.slice(messages.findLastIndex((message) => message.role === 'user'));
  const done = asked.filter((message, at) => message.role === 'tool' && asked[at - 1]?.role !== 'tool').length;
  const name = call.body.tools?.find((tool) => tool.function?.name?.startsWith('mcp__'))?.function?.name;
  if (done >= steps || name === undefined) return stream([start, ...say('All done.'), ...finish(call, 5)]);
  const thoughts = think(`Thought ${call.count}: ü🙂 "quoted" \\ and \u2028 日本語.`);
  const words = call.count % 3 === 0 ? say(`Looking at ${call.count}.`) : [];
  const calls = Array.from({ length: 1 + (call.count % 2) }, (_, at) => {
    const id = `call_${call.body.model}_${call.count}_${at}`.replace(/[^\w-]/g, '_');
    return callTool(at, id, name, JSON.stringify({ number: call.count, call: id }));
  });
  const slowly = [...thoughts, ...words, ...calls.flat()].flatMap((step): FakeStep[] => [step, { wait: 4 }]);
  return stream([start, ...slowly, ...finish(call, 20, 'tool_calls', 5)]);
}

/**
 * Calls the tools that the last message of the user orders, a line each: its name, then its input. Writes their
 * results.
 */
function callOrdered(call: FakeCall): FakeScript {
  const messages = call.body.messages ?? [];
  const asked = messages.findLastIndex((message) => message.role === 'user');
  const results = messages.slice(asked).filter((message) => message.role === 'tool');
  const orders = lastText({ messages: messages.slice(0, asked + 1) }).matchAll(/^([\w-]+) (\{.*\})$/gm);
  const [, name, input] = [...orders][results.length] ?? [];
  if (name === undefined || input === undefined) {
    return stream([...results.map(({ content }) => chunk({ content: `heard ${content}\n` })), ...finish(call, 3)]);
  }
  return stream([
    start,
    ...callTool(0, `call_${call.count}`, name, input, input.length),
    ...finish(call, 2, 'tool_calls'),
  ]);
}

/** Writes a script in the workspace, runs it for about two seconds, publishes its output; one step for each request. */
function useWorkspace(call: FakeCall): FakeScript {
  const asked = call.body.messages?.findLastIndex((message) => message.role === 'user') ?? 0;
  const results = call.body.messages?.slice(asked).filter((message) => message.role === 'tool') ?? [];
  const steps: [string, object][] = [
    // It runs until there is a file `go`.
    ['write_file', { path: 'count.sh', content: 'seq -f "line %g" 4\nuntil test -e go; do sleep 0.1; done\n' }],
    ['bash', { command: 'sh count.sh | tee result.txt' }],
    ['publish_artifact', { path: 'result.txt' }],
  ];
  const [name, input] = steps[results.length] ?? [];
  if (name === undefined) return stream([start, ...say('Published the result.'), ...finish(call, 5)]);
  const id = `call_${call.count}`;
  return stream([start, ...callTool(0, id, name, JSON.stringify(input)), ...finish(call, 20, 'tool_calls')]);
}

/** Writes an app, starts it and shows it; one step for each request. */
function showApp(call: FakeCall): FakeScript {
  const results = call.body.messages?.filter((message) => message.role === 'tool') ?? [];
  const steps: [string, object][] = [
    ['write_file', { path: 'app.mjs', content: previewAppSource }],
    ['bash', { command: 'exec node app.mjs', background: true }],
    ['preview', { port: 4173, path: '/?from=model' }],
  ];
  const [name, input] = steps[results.length] ?? [];
  if (name === undefined) return stream([start, ...say('The app is ready.'), ...finish(call, 5)]);
  const id = `call_${call.count}`;
  return stream([start, ...callTool(0, id, name, JSON.stringify(input)), ...finish(call, 20, 'tool_calls')]);
}

/** Searches the documents for the words of the question, and cites the first page found. */
function citeDocument(call: FakeCall): FakeScript {
  const last = call.body.messages?.at(-1);
  const query = lastText(call.body).split('\n').at(-1);
  const search = callTool(0, `call_${call.count}`, 'search_documents', JSON.stringify({ query }));
  if (last?.role !== 'tool') return stream([start, ...search, ...finish(call, 20, 'tool_calls')]);
  const cite = /\[[^\]"[]+, [^\]"[]+\]/.exec(JSON.stringify(last.content))?.[0];
  return stream([start, ...say(`It says so in ${cite}.`), ...finish(call, 12)]);
}

const key = ({ headers }: FakeCall): string =>
  headers.authorization ?? headers['x-api-key'] ?? headers['x-goog-api-key'] ?? '';

const makers: [RegExp, string, Maker][] = [
  [/^echo$/, 'echo', (call) => stream([start, ...say(lastText(call.body)), ...finish(call, 10)])],
  [
    /^texts$/,
    'texts',
    (call) => {
      const texts = lastText(call.body).split(textSeparator);
      return stream([start, ...texts.flatMap((text) => [...think('Next.'), ...say(text)]), ...finish(call, 10)]);
    },
  ],
  [/^words-(\d+)(?:@(\d+))?$/, 'words-500@50', (call, count, rate) => words(call, count ?? 1, rate ?? 0, false)],
  [
    /^pause-words-(\d+)@(\d+)$/,
    'pause-words-40@0',
    (call, count, rate) => words(call, count ?? 1, rate ?? 0, false, { pause: true }),
  ],
  [/^stamp-(\d+)(?:@(\d+))?$/, 'stamp-500@50', (call, count, rate) => words(call, count ?? 1, rate ?? 0, true)],
  [/^awkward-(\d+)@(\d+)$/, 'awkward-300@100', (call, count, rate) => awkwardText(call, count ?? 1, rate ?? 0)],
  [
    /^pause-awkward-(\d+)@(\d+)$/,
    'pause-awkward-300@100',
    (call, count, rate) => awkwardText(call, count ?? 1, rate ?? 0, { pause: true }),
  ],
  [
    /^reason$/,
    'reason',
    (call) =>
      stream([start, ...think('First I think about it.'), ...say('Then I answer.'), ...finish(call, 8, 'stop', 5)]),
  ],
  [
    /^think$/,
    'think',
    (call) => stream([start, ...say('<think>\nFirst I think.\n</think>\n\nThen I answer.'), ...finish(call, 8)]),
  ],
  [/^app$/, 'app', showApp],
  [/^order$/, 'order', callOrdered],
  [/^cite$/, 'cite', citeDocument],
  [/^tool$/, 'tool', (call) => answerTool(call, 1)],
  [/^tools-(\d+)$/, 'tools-3', (call, calls) => answerTool(call, calls ?? 2)],
  [
    /^tool-loop$/,
    'tool-loop',
    (call) => {
      const name = call.body.tools?.[0]?.function?.name ?? 'missing';
      return stream([...callTool(0, `call_${call.count}`, name, '{}'), ...finish(call, 5, 'tool_calls')]);
    },
  ],
  [/^signed-(\d+)(?:-[\w-]+)?$/, 'signed-3', (call, steps) => thinkAndCall(call, steps ?? 3)],
  [/^workspace$/, 'workspace', useWorkspace],
  [
    /^limited-(\d+)$/,
    'limited-3',
    (call, seconds) =>
      call.count === 1
        ? failure(429, 'slow down', { 'retry-after': String(seconds ?? 3) })
        : stream([...say('Recovered.'), ...finish(call, 1)]),
  ],
  [/^error-(\d{3})$/, 'error-429', (_call, status) => failure(status ?? 500)],
  [
    /^flaky-(\d{3})-(\d+)$/,
    'flaky-503-1',
    (call, status, times) =>
      call.count <= (times ?? 1) ? failure(status ?? 503) : stream([...say('Recovered.'), ...finish(call, 1)]),
  ],
  [/^drop-(\d+)$/, 'drop-20', (_call, after) => stream([{ words: after ?? 1, rate: 0 }, { drop: true }])],
  [/^hang$/, 'hang', () => stream([{ hang: true }])],
  [/^hang-(\d+)$/, 'hang-5', (_call, after) => stream([{ words: after ?? 1, rate: 0 }, { hang: true }])],
  [/^hang-head$/, 'hang-head', () => ({ head: false, steps: [{ hang: true }] })],
  [
    /^stream-error$/,
    'stream-error',
    (call) => stream([...say('Half of an'), { event: { error: { message: `bad key ${key(call)}`, code: 500 } } }]),
  ],
  [/^leak$/, 'leak', (call) => failure(401, `Incorrect API key provided: ${key(call)}`)],
  [/^no-finish$/, 'no-finish', () => stream([...say('No finish reason.'), { event: '[DONE]' }])],
  [/^no-done$/, 'no-done', () => stream([...say('No done mark.'), chunk({}, 'stop')])],
  [/^cut$/, 'cut', () => stream([...say('Neither of them.')])],
  [
    /^html$/,
    'html',
    () => ({ headers: { 'content-type': 'text/html' }, steps: [{ raw: '<!doctype html><title>Hello</title>' }] }),
  ],
  [
    /^whole$/,
    'whole',
    () => ({ headers: { 'content-type': 'application/json' }, steps: [{ whole: 'Answered in one piece.' }] }),
  ],
  [/^huge-line$/, 'huge-line', () => stream([{ raw: `data: ${'x'.repeat(3 * 1024 * 1024)}` }])],
];

/** The extra step precedes the end. */
function awkwardText(call: FakeCall, count: number, rate: number, ...extra: FakeStep[]): FakeScript {
  return stream([start, ...awkwardSteps(count, rate), ...extra, ...finish(call, count)]);
}

/** Here too, the extra step precedes the end. */
function words(call: FakeCall, count: number, rate: number, stamp: boolean, ...extra: FakeStep[]): FakeScript {
  return stream([start, { words: count, rate, stamp }, ...extra, ...finish(call, count)]);
}

/** Ids that `/models` lists; numbers in them can be varied. */
export const scriptedModelIds: string[] = makers.map(([, example]) => example);

/** The script of a model id, or undefined for an unknown one. */
export function scriptForModel(call: FakeCall): FakeScript | undefined {
  for (const [pattern, , make] of makers) {
    const match = pattern.exec(call.body.model ?? '');
    if (match !== null) return make(call, ...match.slice(1).map((value) => Number(value ?? 0)));
  }
  return undefined;
}

const wordParts = envelopeParts();

/** The `index`-th word of a paced answer, as one event. */
export function wordEvent(index: number, stamp: boolean): string {
  return wordParts.join(wordOf(index, stamp));
}

/** The same as a chunk. */
export function wordChunk(index: number, stamp: boolean): unknown {
  return { ...envelope, choices: [{ index: 0, delta: { content: wordOf(index, stamp) }, finish_reason: null }] };
}

function wordOf(index: number, stamp: boolean): string {
  return stamp ? ` ${(performance.timeOrigin + performance.now()).toFixed(3)}` : ` word${index % 1000}`;
}

function envelopeParts(): string[] {
  const choices = [{ index: 0, delta: { content: '\u0001' }, logprobs: null, finish_reason: null }];
  return `data: ${JSON.stringify({ ...envelope, choices })}\n\n`.split('\\u0001');
}
