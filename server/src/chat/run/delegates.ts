import { createHash, randomUUIDv7 } from 'node:crypto';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import { limits } from '@homeport/contracts/limits';
import { z } from 'zod';
import { catalogueOwner } from '../../catalogue/catalogue-owner.ts';
import { findModelByName, type ResolvedModel } from '../../catalogue/model-choice.ts';
import { Semaphore } from '../../platform/concurrency/semaphore.ts';
import { estimateTokens } from '../../platform/text-tokens.ts';
import { unlessAborted } from '../../platform/waits.ts';
import type { ResponseRow } from '../ledger/response-start.ts';
import type { ChatMessage } from '../model/provider-messages.ts';
import { reportChanges } from '../tools/command-output.ts';
import { ruledTool } from '../tools/rules/tool-rules.ts';
import { defineTool } from '../tools/tool-input.ts';
import { type Tool, type ToolContext, ToolFailure } from '../tools/tool-run.ts';
import { shrinkToolResults } from '../turn/context-cut.ts';
import { windowOf } from '../turn/context-history.ts';
import type { Spending } from '../turn/spending.ts';
import { estimateMessage } from '../turn/token-estimate.ts';
import { runTurn } from '../turn/turn-loop.ts';
import type { OnCall } from './counted-call.ts';
import { DelegateSteps } from './delegate-steps.ts';
import { askModelOf, type TurnDeps } from './model-call.ts';

/**
 * Delegates (contract.md section 11): a model that works on one task, with a context of its own and the tools of the
 * turn, and gives back its last answer only. They stop with the turn, spend its budget, and are lost with it as any
 * other tool call.
 */

/** Tools for the turn itself only: a delegate cannot delegate, and has no person to talk to. */
const turnOnly = new Set(['delegate', 'plan', 'ask']);

const description = `Gives one task to another model, which works independently with your tools and the same workspace, and returns its result. Use it for work that you can
describe completely and that would fill your own context: searching a large code base, reading many files, independent pieces of work. Several calls in one
step run in parallel, at most ${limits.delegatesAtOnce} at a time and ${limits.delegatesPerTurn} per turn. The other model sees only its task, cannot ask the person and cannot delegate. Calls
that would need the person's approval are refused.`;

const input = z.object({
  task: z
    .string()
    .min(1)
    .max(limits.delegateTaskMax)
    .describe('Everything that the other model needs: the goal, the places to work in, and the form of the answer.'),
  model: z.string().min(1).max(limits.providerModelIdMax).optional().describe('The name of a model. Default: yours.'),
  tools: z
    .array(z.string().min(1).max(limits.mcpToolNameMax))
    .max(limits.mcpToolsPerServer)
    .optional()
    .describe('The names of the tools that it can use, from yours. Default: all.'),
});
type Input = z.infer<typeof input>;

const instructions = `You work on one task for another model, which reads only your last answer. Write at most ${limits.delegateAnswerMax} characters there, with everything it needs
(results, paths, failures). You cannot ask questions: if something is unclear, choose the most likely meaning and say so. Calls that need a
person's approval are refused; skip them and say so.`;

/** Parts of its turn that a delegate uses. */
export type DelegatingTurn = {
  response: ResponseRow;
  system: ChatMessage;
  tools: readonly Tool[];
  resolved: ResolvedModel;
  parameters: Parameters;
  spending: Spending;
  onCall: OnCall;
  /** Awaited before each question but the first; throws to end the delegate. */
  beforeAsking: () => Promise<void>;
};

/** The tool `delegate` for one turn. */
export function delegateTool(deps: TurnDeps, turn: DelegatingTurn): Tool {
  const slots = new Semaphore(limits.delegatesAtOnce);
  let count = 0;
  const tool = defineTool({
    name: 'delegate',
    description,
    input,
    // Its own end is that of the turn's budget.
    timeoutMs: limits.turnMinutesMax * 60_000,
    run(given, context) {
      if (count >= limits.delegatesPerTurn) {
        throw new ToolFailure(`This turn has used all of its ${limits.delegatesPerTurn} delegates.`);
      }
      count++;
      return slots.run(() => work(deps, turn, given, context));
    },
  });
  return ruledTool(deps, turn.response, tool);
}

async function work(
  deps: TurnDeps,
  turn: DelegatingTurn,
  given: Input,
  { signal, toolCallId, report }: ToolContext,
): Promise<{ answer: string; steps: DelegateSteps['list'] }> {
  signal.throwIfAborted();
  const tools = chosenTools(turn.tools, given.tools, toolCallId);
  const resolved = given.model === undefined ? turn.resolved : await otherModel(deps, turn.response, given.model);
  const { contextWindow, maxOutputTokens } = resolved.model;
  const parameters = resolved === turn.resolved ? turn.parameters : resolved.model.parameters;
  const window = windowOf({
    contextWindow,
    maxOutputTokens: Math.min(maxOutputTokens, parameters.maxOutputTokens ?? maxOutputTokens),
  });
  const system: ChatMessage = { role: 'system', content: `${textOf(turn.system)}\n\n${instructions}` };
  const tokens = estimateMessage(system) + estimateTokens(JSON.stringify(tools));
  const available = window.room - tokens;
  const context = { history: JSON.stringify(system), maxOutputTokens: window.maxOutputTokens, tokens, ratio: 1 };
  const askModel = askModelOf(deps, resolved, context, parameters, {
    kind: 'delegate',
    onCall: turn.onCall,
    cacheKey: createHash('sha256').update(`${turn.response.chat_id}:${toolCallId}`).digest('base64url'),
  });
  const steps = new DelegateSteps();
  const reports = reportChanges(() => report(steps.text));
  const spending = turn.spending.ofDelegate();
  try {
    const running = runTurn(
      {
        askModel,
        messages: [{ role: 'user', content: given.task }],
        tools,
        emit: (frame) => {
          if (steps.hear(frame)) reports.changed();
        },
        createId: randomUUIDv7,
        onCheckpoint: async (isBeforeAsking) => (isBeforeAsking ? turn.beforeAsking() : undefined),
        fitMessages: (messages) => shrinkToolResults(messages, available, estimateMessage),
        spending,
        onToolFailure: (toolName, error) => deps.log.warn({ toolName, cause: error }, 'a tool of a delegate failed'),
      },
      signal,
    );
    const result = await unlessAborted(running, signal);
    if (result.outcome === 'failed')
      throw new ToolFailure(`The delegate failed: ${result.error?.message ?? 'unknown'}`);
  } finally {
    reports.stop();
  }
  return { answer: answerOf(steps, spending.isOut), steps: steps.list };
}

function chosenTools(tools: readonly Tool[], names: readonly string[] | undefined, callId: string): Tool[] {
  const usable = tools.filter(({ name }) => !turnOnly.has(name));
  const unknown = names?.filter((name) => !usable.some((tool) => tool.name === name)) ?? [];
  if (unknown.length > 0) {
    const known = usable.map(({ name }) => name).join(', ');
    throw new ToolFailure(`A delegate cannot use: ${unknown.slice(0, 20).join(', ')}. It can use: ${known}.`);
  }
  const chosen = names === undefined ? usable : usable.filter(({ name }) => names.includes(name));
  // Two delegates may give their calls the same ids, and a command runs once for each id.
  return chosen.map((tool) => ({
    ...tool,
    execute: (given, context) => tool.execute(given, { ...context, toolCallId: `${callId}/${context.toolCallId}` }),
  }));
}

async function otherModel(deps: TurnDeps, response: ResponseRow, name: string): Promise<ResolvedModel> {
  const found = await findModelByName(deps, catalogueOwner(deps.config, response.owner_id), name);
  if (found === undefined) throw new ToolFailure(`There is no model ${name}. Omit it to use yours.`);
  return found;
}

function answerOf(steps: DelegateSteps, isOut: string | undefined): string {
  const { answer } = steps;
  const end = isOut === undefined ? '' : `\n[It stopped at its limit of ${isOut}.]`;
  if (answer.trim() === '') return `[The delegate ended without an answer.]${end}`;
  const available = limits.delegateAnswerMax - end.length;
  if (answer.length <= available) return `${answer}${end}`;
  const cut = `\n[Cut: ${answer.length} characters]`;
  return `${answer.slice(0, available - cut.length).toWellFormed()}${cut}${end}`;
}

function textOf({ content }: ChatMessage): string {
  return typeof content === 'string' ? content : '';
}
