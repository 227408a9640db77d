import { catalogueOwner } from '../../catalogue/catalogue-owner.ts';
import { resolveModel } from '../../catalogue/model-choice.ts';
import type { Claimed } from '../ledger/response-start.ts';
import { readHistory, windowOf } from '../turn/context-history.ts';
import { loadTokenizer } from '../turn/token-ratio.ts';
import { compactRequested } from './context-step.ts';
import { askOnceOf } from './model-call.ts';
import { documentRoom } from './prepare/attached-documents.ts';
import { chooseByAssistant } from './prepare/turn-assistant.ts';
import { readTurnContext } from './prepare/turn-instructions.ts';
import { type PreparingHooks, readBranch } from './prepare/turn-request.ts';
import type { RunDeps } from './run-deps.ts';

/** Makes the summary that a person asked for, with the model that would answer; resolves with that model. */
export async function makeRequestedSummary(
  deps: RunDeps,
  turn: Pick<Claimed, 'response' | 'context'>,
  hooks: PreparingHooks,
  signal: AbortSignal,
): Promise<string> {
  const { response } = turn;
  const { modelId } = await chooseByAssistant(deps, turn, readTurnContext(deps, turn), hooks.notify);
  const resolved = await resolveModel(deps, catalogueOwner(deps.config, response.owner_id), {
    modelId,
    wasTheirs: true,
  });
  const newestFirst = readBranch(deps, turn, documentRoom(windowOf(resolved.model).room, false), signal);
  const history = await readHistory({
    newestFirst,
    model: resolved.model,
    fixedTokens: 0,
    limitShare: 1,
    loadTokenizer,
  });
  const ask = askOnceOf(deps, resolved, { kind: 'summary', ...hooks });
  await compactRequested(deps, turn, history, { ...hooks, ask, onUsage: () => undefined }, signal);
  return resolved.model.id;
}
