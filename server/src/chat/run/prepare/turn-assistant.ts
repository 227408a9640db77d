import type { MessageMetadata } from '@homeport/contracts/chat/frames';
import type { AnsweringAssistant } from '../../../assistants/readers-own.ts';
import { dropAssistant, recordAssistantNotice } from '../../../conversations/chats.ts';
import type { PromptContext } from '../../../conversations/prompt-context.ts';
import type { Platform } from '../../../platform.ts';
import type { Claimed } from '../../ledger/response-start.ts';
import type { Notice, ToolUser } from '../../tools/find-tools.ts';

/**
 * Applies a conversation's assistant to a turn. An assistant never gives its reader access to anything they do not
 * have.
 */

type Turn = Pick<Claimed, 'response' | 'context'>;
type Choice = {
  assistant: AnsweringAssistant | undefined;
  /** Null: the default. */
  modelId: string | null;
  /** For whom tools are looked for. */
  toolUser: ToolUser;
};

/**
 * Chooses the model and tools of a turn. An assistant that its reader can no longer use is removed from the
 * conversation, and `notify` reports it; missing models and servers are reported once for each version.
 */
export async function chooseByAssistant(
  deps: Pick<Platform, 'db'>,
  turn: Turn,
  promptContext: Promise<PromptContext>,
  notify: (notice: Notice) => void,
): Promise<Choice> {
  const modelId = chosenModel(turn);
  const { assistantId } = turn.context;
  const without = { assistant: undefined, modelId, toolUser: turn };
  if (assistantId === null) return without;
  const { assistant, assistantNotice } = await promptContext;
  const { kysely } = deps.db;
  const chatId = turn.response.chat_id;
  if (assistant === null) {
    await dropAssistant(kysely, chatId, assistantId);
    notify({
      code: 'assistant_unavailable',
      message: 'The assistant of this conversation is no longer available to you, so this answer was made without it.',
    });
    return without;
  }
  const lacking = lackingText(assistant, modelId !== null);
  const noticeKey = `${assistant.id}:${assistant.version}`;
  if (lacking !== '' && noticeKey !== assistantNotice) {
    await recordAssistantNotice(kysely, chatId, noticeKey);
    notify({ code: 'assistant_incomplete', message: lacking, values: { name: assistant.name } });
  }
  return {
    assistant,
    modelId: modelId ?? assistant.modelId ?? assistant.tierModelId,
    toolUser: narrowed(turn, assistant),
  };
}

/** Name and version of the assistant that are stored with the answer. */
export function namedAssistant(assistant: AnsweringAssistant | undefined): MessageMetadata['assistant'] {
  if (assistant === undefined) return undefined;
  const { id, name, version } = assistant;
  return { id, name, version };
}

/** Returns the chosen model (control-plane-api.md "POST /api/chat"): for this turn, else for the conversation. */
function chosenModel({ response, context }: Turn): string | null {
  const { modelPinned, modelId } = response.decision;
  if (modelPinned === false) return null;
  return modelId ?? (context.modelPinned ? context.modelId : null);
}

/** The servers that the turn would have, those of them that the assistant names. */
function narrowed({ response, context }: Turn, { serverIds, workspace }: AnsweringAssistant): ToolUser {
  const { mcpServerIds = context.mcpServerIds } = response.decision;
  const both = mcpServerIds === null ? serverIds : mcpServerIds.filter((id) => serverIds?.includes(id) !== false);
  const decision = { ...response.decision, mcpServerIds: both };
  return { response: { ...response, decision }, context, withoutWorkspace: !workspace };
}

function lackingText(assistant: AnsweringAssistant, isModelChosen: boolean): string {
  const { name, namesModel, modelId, tierModelId, serversMissing } = assistant;
  const servers = serversMissing === 1 ? 'One MCP server' : `${serversMissing} MCP servers`;
  return [
    ...(namesModel && modelId === null && !isModelChosen
      ? [
          tierModelId === null
            ? `You don't have the model of the assistant “${name}”, so your default model answers.`
            : `You don't have the model of the assistant “${name}”, so another one of its tier answers.`,
        ]
      : []),
    ...(serversMissing > 0
      ? [`${servers} of the assistant “${name}” ${serversMissing === 1 ? 'is' : 'are'} not among yours and left out.`]
      : []),
  ].join(' ');
}
