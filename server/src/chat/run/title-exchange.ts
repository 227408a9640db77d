import { catalogueOwner } from '../../catalogue/catalogue-owner.ts';
import { lowestTierEnabledModel, type ResolvedModel, resolveModel } from '../../catalogue/model-choice.ts';
import { findTitleSource, setModelTitle } from '../../conversations/chat-titles.ts';
import { readParts } from '../../conversations/messages.ts';
import { readBudgetReset } from '../../usage/budget-state.ts';
import type { ResponseRow } from '../ledger/response-start.ts';
import { generateTitle, instantTitle } from '../turn/title.ts';
import { askForTextOf } from './model-call.ts';
import { RunCalls } from './run-calls.ts';
import type { RunDeps } from './run-deps.ts';

/**
 * Names a conversation after its first exchange, once, with the lowest-tier enabled model (setting MODEL_TITLES), or
 * with the model that answered if that one names nothing. Runs in the background; after both have failed the title made
 * from the first words stays.
 */
export function titleAfterFirstExchange(deps: RunDeps, response: ResponseRow, answeredBy: string | undefined): void {
  if (!deps.config.modelTitles) return;
  deps.responses.inBackground('title', async (signal) => {
    if ((await findTitleSource(deps.db.kysely, response.chat_id)) !== 'instant') return;
    const question = await readParts(deps.db.kysely, response.message_id);
    const answer = await readParts(deps.db.kysely, response.id);
    const calls = new RunCalls(response);
    // Titles are not requested by the user, so an empty budget is no error.
    const isUsedUp = (await readBudgetReset(deps.db.kysely, response.owner_id)) !== null;
    const messages = [
      { role: 'user', parts: question },
      { role: 'assistant', parts: answer },
    ] as const;
    let title: string | undefined;
    for (const model of isUsedUp ? [] : await titleModels(deps, response, answeredBy)) {
      if (title !== undefined) break;
      const ask = askForTextOf(deps, model, (call) => calls.add(call, 0));
      title = await generateTitle({ ask, messages }, signal);
    }
    await setModelTitle(deps.db.kysely, response.chat_id, title ?? instantTitle(question), calls.pending);
    deps.responses.notifyActivity(response.owner_id, response.chat_id);
  });
}

/** The model for titles, and the one that answered. */
async function titleModels(
  deps: RunDeps,
  response: ResponseRow,
  answeredBy: string | undefined,
): Promise<ResolvedModel[]> {
  const owner = catalogueOwner(deps.config, response.owner_id);
  const lowest = await lowestTierEnabledModel(deps, owner);
  if (answeredBy === undefined || answeredBy === lowest?.model.id) return lowest === undefined ? [] : [lowest];
  const answering = await resolveModel(deps, owner, { modelId: answeredBy, wasTheirs: true }).catch(() => undefined);
  return [lowest, answering].filter((model) => model !== undefined);
}
