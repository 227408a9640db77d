import type { Json } from '../product.ts';
import { type ModelServer, plainText, startModelServer } from './model-server.ts';

/** A model that works through a list of tool calls, one for each question, whatever comes in between. */

export type AgentStep = {
  name: string;
  /** Given the results so far, by the number of the step from 0. */
  input: object | ((results: readonly string[]) => object);
  /** Expected text of the result. */
  expects?: RegExp;
  /** Awaited before the model asks for this call, once. */
  before?: () => Promise<unknown>;
};

type ScriptedAgent = ModelServer & {
  /** The result of each step that came back. */
  results: string[];
  /** How often a step was asked for again, because its result was lost. */
  repeated: number;
  summaries: number;
  /** The person's last message of each request that ended with one. */
  heard: string[];
  /** Unexpected results. */
  faults: string[];
  /** The newest question. */
  messages: Json[];
};

const lost = /interrupted|stopped|no longer answers|connection .* lost/i;
const summary = 'You summarize a conversation';

export async function startScriptedAgent(steps: readonly AgentStep[]): Promise<ScriptedAgent> {
  let asked: string | undefined;
  let questions = 0;
  const waited = new Set<number>();

  async function reply(messages: Json[]) {
    if (String(messages[0]?.content).startsWith(summary)) {
      agent.summaries += 1;
      return { say: '- Task: build the app.' };
    }
    agent.messages = messages;
    const last = messages.at(-1);
    if (last?.role === 'user') agent.heard.push(plainText(last.content));
    take(messages);
    const at = agent.results.length;
    const step = steps[at];
    if (step === undefined) return { say: 'The app is ready.' };
    if (!waited.has(at)) {
      waited.add(at);
      await step.before?.().catch((error) => agent.faults.push(String(error)));
    }
    asked = `step-${at}-${++questions}`;
    const input = typeof step.input === 'function' ? step.input(agent.results) : step.input;
    return { id: asked, name: step.name, input };
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

  const agent: ScriptedAgent = {
    results: [],
    repeated: 0,
    summaries: 0,
    heard: [],
    faults: [],
    messages: [],
    ...(await startModelServer(reply)),
  };
  return agent;
}
