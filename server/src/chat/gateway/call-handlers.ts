import type { Deps } from '../../deps.ts';
import type { Actor, RequestFacts } from '../../http/handler.ts';
import { type BegunCall, beginAssistantCall } from './assistant/assistant-handlers.ts';
import { assistantModelName, findAssistantModel } from './assistant/assistant-models.ts';
import type { GatewayRequest } from './gateway-request.ts';
import { type Keeping, keptRequest } from './kept-handlers.ts';
import { modelCall } from './model-call.ts';
import { modelOf } from './models.ts';

export type AskedCall = {
  model: string;
  request: GatewayRequest;
  /** Names of members in the front protocol, where they differ from those of chat completions. */
  names?: Readonly<Record<string, string>>;
  keeping: Keeping;
};

/** A call of a model or of an assistant, by the name that the client gave. `modelName` is repeated in the answer. */
export async function beginCall(
  deps: Deps,
  given: { actor: Actor; request: RequestFacts },
  { model, request, names, keeping }: AskedCall,
): Promise<BegunCall & { modelName: string }> {
  const assistant = await findAssistantModel(deps, given.actor.id, model);
  if (assistant !== undefined) {
    const begun = await beginAssistantCall(deps, given, assistant, request, keeping);
    return { ...begun, modelName: assistantModelName(assistant) };
  }
  const resolved = await modelOf(deps, given.actor.id, model);
  const kept = await keptRequest(deps, given, { resolved, request }, keeping);
  const call = { ownerId: given.actor.id, resolved, request: kept.request };
  return {
    call: modelCall(deps, names === undefined ? call : { ...call, names }),
    keep: kept.keep,
    modelName: resolved.model.providerModelId,
  };
}
