import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { AnsweringAssistant } from '../../../assistants/readers-own.ts';
import { catalogueOwner } from '../../../catalogue/catalogue-owner.ts';
import type { ResolvedModel } from '../../../catalogue/model-choice.ts';
import { conversationNotFound } from '../../../conversations/chats.ts';
import {
  type PromptContext,
  type PromptContextText,
  promptContextHash,
  readPromptContext,
  storePromptContext,
} from '../../../conversations/prompt-context.ts';
import type { ToldContext } from '../../../db/tables/tables.ts';
import { estimateTokens } from '../../../platform/text-tokens.ts';
import type { Platform } from '../../../platform.ts';
import { defaultInstructions } from '../../../settings/default-instructions.ts';
import { assertBudget } from '../../../usage/budget-rule.ts';
import type { Claimed, ResponseRow } from '../../ledger/response-start.ts';
import type { ChatMessage } from '../../model/provider-messages.ts';
import type { Tool } from '../../tools/tool-run.ts';
import type { FittedContext } from '../../turn/context-window.ts';
import { type InstructionText, instructionTexts, systemText } from '../../turn/instructions.ts';
import { namedAssistant } from './turn-assistant.ts';

type Needs = Pick<Platform, 'db' | 'clock' | 'config'>;

/** Instructions for the model of a turn, in layers and as the system message. */
export type TurnInstructions = { layers: InstructionText[]; system: ChatMessage };

/**
 * Reads the instructions that people wrote for this turn. Throws `not_found` when the conversation no longer exists,
 * and `budget_exhausted`.
 */
export async function readTurnContext(
  deps: Needs,
  { response, context }: Pick<Claimed, 'response' | 'context'>,
): Promise<PromptContext> {
  const catalogue = context.assistantId === null ? undefined : catalogueOwner(deps.config, response.owner_id);
  const promptContext = await readPromptContext(deps.db, response.chat_id, catalogue);
  if (promptContext === undefined) throw conversationNotFound();
  assertBudget(promptContext.budgetResetsAt);
  return promptContext;
}

/** The system message of a turn with these tools. */
export function instructionsOf(
  deps: Needs,
  promptContext: PromptContext,
  assistant: AnsweringAssistant | undefined,
  tools: readonly Tool[],
): TurnInstructions {
  const layers = instructionTexts({
    installation: promptContext.installation ?? defaultInstructions,
    assistant: assistant === undefined ? undefined : { name: assistant.name, text: assistant.instructions ?? '' },
    project:
      promptContext.project === null
        ? undefined
        : { name: promptContext.projectName ?? '', text: promptContext.project },
    person: promptContext.person,
    conversation: promptContext.conversation,
    about: promptContext.about ?? {},
    userName: promptContext.userName,
    tools: tools.map(({ name }) => name),
    hasWorkspace: tools.some(({ name }) => name === 'bash'),
    toolNotes: tools.flatMap(({ note }) => (note === undefined ? [] : [note])),
    now: deps.clock.now(),
  });
  return { layers, system: { role: 'system', content: systemText(layers) } };
}

/** Merges the parameters, the most specific first: this turn, the conversation, the assistant, the model. */
export function parametersOf(
  response: ResponseRow,
  promptContext: PromptContext,
  assistant: AnsweringAssistant | undefined,
  { model }: ResolvedModel,
): Parameters {
  return {
    ...model.parameters,
    ...assistant?.parameters,
    ...promptContext.parameters,
    ...response.decision.parameters,
  };
}

/** Stores the prompt context of an answer for later inspection. The request to the model does not wait for it. */
export async function keepPromptContext(
  deps: Needs,
  response: ResponseRow,
  sent: {
    instructions: TurnInstructions;
    assistant: AnsweringAssistant | undefined;
    tools: readonly Tool[];
    parameters: Parameters;
    context: FittedContext;
    resolved: ResolvedModel;
    /** A summary was made first: the answer's usage is not of one request. */
    madeSummary: boolean;
  },
): Promise<void> {
  const { instructions, tools, context, resolved } = sent;
  const { owner_id: ownerId, chat_id: chatId } = response;
  const hashOf = (text: PromptContextText): string => promptContextHash(ownerId, chatId, text);
  const layers = instructions.layers.map(({ layer, text }) => ({
    layer,
    stored: { text, ofConversation: layer === 'conversation' },
    tokens: Math.ceil(estimateTokens(text) * context.ratio),
  }));
  const toolList = JSON.stringify(
    tools.map(({ name, description, inputSchema }) => ({
      name,
      tokens: Math.ceil(estimateTokens(JSON.stringify({ name, description, inputSchema })) * context.ratio),
    })),
  );
  const toolText = { text: toolList, ofConversation: false };
  const { header } = context;
  const summary = header?.summary ?? null;
  const summaryText = { text: summary?.text ?? '', ofConversation: true };
  const texts = [...layers.map(({ stored }) => stored), toolText, ...(summary === null ? [] : [summaryText])];
  const answer = { messageId: response.id, ownerId, chatId, assistant: namedAssistant(sent.assistant) };
  await storePromptContext(deps.db, answer, texts, {
    model: { providerName: resolved.providerName, providerModelId: resolved.model.providerModelId },
    parameters: sent.parameters,
    instructions: layers.map(({ layer, stored, tokens }) => ({ layer, hash: hashOf(stored), tokens })),
    tools: hashOf(toolText),
    firstMessageId: context.sent[0]?.id ?? null,
    ...(sent.madeSummary ? { madeSummary: true } : {}),
    requestId: header === undefined || header.firstId === '' ? null : header.firstId,
    summary:
      header === undefined || summary === null
        ? null
        : {
            hash: hashOf(summaryText),
            upToId: summary.upToId,
            tokens: Math.ceil(header.summaryTokens * context.ratio),
          },
    prunedUpToId: context.sent.findLast(({ isPruned }) => isPruned)?.id ?? null,
    ratio: context.ratio,
    files: fileTokensOf(context),
    tokens: context.tokens,
    window: resolved.model.contextWindow,
    answerRoom: context.maxOutputTokens,
  });
}

/** Maximum number of messages with their own entry; older ones count in the total only. */
const filesKept = 100;

function fileTokensOf({ withFiles }: FittedContext): ToldContext['files'] {
  const kept = withFiles.slice(-filesKept).map(({ id, tokens, files }) => [id, { tokens, files }] as const);
  return { total: withFiles.reduce((sum, { files }) => sum + files, 0), messages: Object.fromEntries(kept) };
}
