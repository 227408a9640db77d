import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Json } from '../product.ts';

/** A model that works through a list of tool calls, one for each question, whatever comes in between. */

export type AgentStep = {
  name: string;
  /** Given the results so far, by the number of the step from 0. */
  input: object | ((results: readonly string[]) => object);
  /** What the result has to say. */
  expects?: RegExp;
  /** Awaited before the model asks for this call, once. */
  before?: () => Promise<unknown>;
};

export type ScriptedAgent = {
  url: string;
  /** The result of each step that came back. */
  results: string[];
  /** How often a step was asked for again, because its result was lost. */
  repeated: number;
  summaries: number;
  /** What a person said last, each time that this was the end of a question. */
  heard: string[];
  /** What came back otherwise than expected. */
  faults: string[];
  /** The newest question. */
  messages: Json[];
  close(): void;
};

const lost = /interrupted|stopped|no longer answers|connection .* lost/i;
const summary = 'You summarize a conversation';

/** `steps` may be filled in later, until the first question. */
export async function startScriptedAgent(steps: readonly AgentStep[]): Promise<ScriptedAgent> {
  let asked: string | undefined;
  let questions = 0;
  const waited = new Set<number>();

  async function answer(messages: Json[], response: ServerResponse): Promise<void> {
    if (String(messages[0]?.content).startsWith(summary)) {
      agent.summaries += 1;
      return say(response, '- Task: build the app.');
    }
    agent.messages = messages;
    const last = messages.at(-1);
    if (last?.role === 'user') agent.heard.push(plainText(last.content));
    take(messages);
    const at = agent.results.length;
    const step = steps[at];
    if (step === undefined) return say(response, 'The app is ready.');
    if (!waited.has(at)) {
      waited.add(at);
      await step.before?.();
    }
    asked = `step-${at}-${++questions}`;
    const input = typeof step.input === 'function' ? step.input(agent.results) : step.input;
    const call = { index: 0, id: asked, function: { name: step.name, arguments: JSON.stringify(input) } };
    send(response, { tool_calls: [call] }, 'tool_calls');
  }

  /** The result of the call that was asked for, wherever it is. */
  function take(messages: Json[]): void {
    if (asked === undefined) return;
    const at = agent.results.length;
    const result = messages.findLast((message) => message.tool_call_id === asked);
    const content = plainText(result?.content);
    asked = undefined;
    if (result === undefined || (steps[at]?.expects?.test(content) !== true && lost.test(content))) {
      agent.repeated += 1;
      return;
    }
    if (steps[at]?.expects?.test(content) === false) agent.faults.push(`step ${at}: ${content}`);
    agent.results.push(content);
  }

  const server = createServer(async (request, response) => {
    const { messages = [] }: { messages?: Json[] } = JSON.parse((await text(request)) || '{}');
    await answer(messages, response).catch((error) => {
      agent.faults.push(String(error));
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent: ScriptedAgent = {
    ...{
      url: `http://127.0.0.1:${port}/v1`,
      results: [],
      repeated: 0,
      summaries: 0,
      heard: [],
      faults: [],
      messages: [],
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return agent;
}

function plainText(content: Json): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

function say(response: ServerResponse, content: string): void {
  send(response, { content }, 'stop');
}

function send(response: ServerResponse, delta: object, reason: string): void {
  const events = [{ choices: [{ index: 0, delta }] }, { choices: [{ index: 0, delta: {}, finish_reason: reason }] }];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`);
}
