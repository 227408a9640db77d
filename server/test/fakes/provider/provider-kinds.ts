import type { FakeChatBody } from './provider-scripts.ts';

/**
 * Requests of the four protocols as requests of chat completions, which scripts read. Free-standing: Node built-ins
 * only.
 */
export type FakeKind = 'openai' | 'openai-responses' | 'anthropic' | 'gemini';
type Json = Record<string, unknown>;
type Message = { role: string; content: unknown; tool_call_id?: string; tool_calls?: { id: string }[] };
/** Ids of the calls of one step of the newest turn, with the texts of their seals, as received. */
export type SealedStep = { callIds: string[]; seals: string[] };
export type ReadRequest = { kind: FakeKind; body: FakeChatBody; steps: SealedStep[] };

export function readRequest(path: string, given: Json): ReadRequest {
  if (path.includes(':streamGenerateContent')) return readGemini(path, given);
  if (path.endsWith('/messages')) return readAnthropic(given);
  if (path.endsWith('/responses')) return readResponses(given);
  return { kind: 'openai', body: given, steps: [] };
}

const records = (value: unknown): Json[] => (Array.isArray(value) ? value.map((item): Json => Object(item)) : []);
const textOf = (parts: Json[]): string =>
  parts.map((part) => (typeof part.text === 'string' ? part.text : '')).join('');

function bodyOf(model: unknown, system: string, messages: Message[], names: unknown[]): FakeChatBody {
  const allMessages = system === '' ? messages : [{ role: 'system', content: system }, ...messages];
  const tools = names.map((name) => ({ function: { name: String(name) } }));
  return { model: String(model), messages: allMessages, tools, stream: true, stream_options: { include_usage: true } };
}

/** Steps since the newest message of the user. */
function newestTurn(messages: readonly Message[], steps: Map<Message, SealedStep>): SealedStep[] {
  const asked = messages.findLastIndex((message) => message.role === 'user');
  return messages.slice(asked + 1).flatMap((message) => steps.get(message) ?? []);
}

/** Consecutive messages of a user, which these protocols merge into one. */
function userMessages(parts: Json[]): Message[] {
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [{ role: 'user', content: text }] : []));
}

function readAnthropic(given: Json): ReadRequest {
  const messages: Message[] = [];
  const steps = new Map<Message, SealedStep>();
  for (const { role, content: list } of records(given.messages)) {
    const blocks = records(list);
    const calls = blocks.filter((block) => block.type === 'tool_use').map((block) => ({ id: String(block.id) }));
    const results = blocks.filter((block) => block.type === 'tool_result');
    for (const result of results) {
      messages.push({ role: 'tool', content: result.content, tool_call_id: String(result.tool_use_id) });
    }
    if (role === 'user') {
      messages.push(...userMessages(blocks));
      continue;
    }
    const content = textOf(blocks);
    const message: Message = { role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    messages.push(message);
    const seals = blocks.filter(({ type }) => /thinking$/.test(String(type))).map((block) => JSON.stringify(block));
    if (calls.length > 0) steps.set(message, { callIds: calls.map((call) => call.id), seals });
  }
  const names = records(given.tools).map((tool) => tool.name);
  const body = bodyOf(given.model, textOf(records(given.system)), messages, names);
  return { kind: 'anthropic', body, steps: newestTurn(messages, steps) };
}

function readResponses(given: Json): ReadRequest {
  const messages: Message[] = [];
  const steps = new Map<Message, SealedStep>();
  let seals: string[] = [];
  for (const item of records(given.input)) {
    if (item.type === 'function_call_output') {
      messages.push({ role: 'tool', content: item.output, tool_call_id: String(item.call_id) });
      seals = [];
    } else if (item.type === 'reasoning') seals.push(JSON.stringify(item));
    else if (item.type === 'function_call') {
      const message: Message = { role: 'assistant', content: '', tool_calls: [{ id: String(item.call_id) }] };
      messages.push(message);
      steps.set(message, { callIds: [String(item.call_id)], seals: [...seals] });
    } else {
      const content = typeof item.content === 'string' ? item.content : textOf(records(item.content));
      messages.push({ role: String(item.role), content });
    }
  }
  const names = records(given.tools).map((tool) => tool.name);
  const body = bodyOf(given.model, String(given.instructions ?? ''), messages, names);
  return { kind: 'openai-responses', body, steps: newestTurn(messages, steps) };
}

function readGemini(path: string, given: Json): ReadRequest {
  const messages: Message[] = [];
  const steps = new Map<Message, SealedStep>();
  for (const { role, parts: list } of records(given.contents)) {
    const parts = records(list);
    const calls = parts.filter((part) => part.functionCall !== undefined);
    const results = parts.filter((part) => part.functionResponse !== undefined);
    for (const { functionResponse } of results) {
      const { response } = Object(functionResponse);
      messages.push({ role: 'tool', content: Object(response).result });
    }
    const ids = calls.map(({ functionCall }) => ({ id: String(Object(functionCall).id) }));
    if (role !== 'model') {
      messages.push(...userMessages(parts));
      continue;
    }
    const visible = textOf(parts.filter((part) => part.thought !== true));
    const message: Message = { role: 'assistant', content: visible, ...(ids.length > 0 ? { tool_calls: ids } : {}) };
    messages.push(message);
    const isSeal = (part: Json): boolean => part.thought === true || typeof part.thoughtSignature === 'string';
    const seals = parts.filter(isSeal).map((part) => JSON.stringify(part));
    if (ids.length > 0) steps.set(message, { callIds: ids.map(({ id }) => id), seals });
  }
  const names = records(given.tools).flatMap((tool) => records(tool.functionDeclarations).map((each) => each.name));
  const system = textOf(records(Object(given.systemInstruction).parts));
  const model = decodeURIComponent(/models\/([^:/]+):/.exec(path)?.[1] ?? '');
  return { kind: 'gemini', body: bodyOf(model, system, messages, names), steps: newestTurn(messages, steps) };
}
