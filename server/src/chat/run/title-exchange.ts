import { catalogueOwner } from '../../catalogue/catalogue-owner.ts';
import { lowestTierEnabledModel } from '../../catalogue/model-choice.ts';
import { findTitleSource, setModelTitle } from '../../conversations/chat-titles.ts';
import { readParts } from '../../conversations/messages.ts';
import { readBudgetReset } from '../../usage/budget-state.ts';
import type { ResponseRow } from '../ledger/claims.ts';
import { generateTitle, instantTitle } from '../turn/title.ts';
import { askForTextOf } from './model-call.ts';
import type { RunDeps } from './response-run.ts';
import { RunCalls } from './run-calls.ts';

/**
 * Names a conversation after its first exchange, once, with the lowest-tier enabled model (setting MODEL_TITLES). Runs
 * in the background; after a failure the title made from the first words stays.
 */
export function titleAfterFirstExchange(deps: RunDeps, response: ResponseRow): void {
  if (!deps.config.modelTitles) return;
  deps.responses.inBackground('title', async (signal) => {
    if ((await findTitleSource(deps.db.kysely, response.chat_id)) !== 'instant') return;
    const question = await readParts(deps.db.kysely, response.message_id);
    const answer = await readParts(deps.db.kysely, response.id);
    const calls = new RunCalls(response);
    // Titles are not requested by the user, so an empty budget is no error.
    const isUsedUp = (await readBudgetReset(deps.db.kysely, response.owner_id)) !== null;
    const model = await lowestTierEnabledModel(deps, catalogueOwner(deps.config, response.owner_id));
    const title =
      model === undefined || isUsedUp
        ? undefined
        : await generateTitle(
            {
              ask: askForTextOf(deps, model, (call) => calls.add(call, 0)),
              messages: [
                { role: 'user', parts: question },
                { role: 'assistant', parts: answer },
              ],
            },
            signal,
          );
    await setModelTitle(deps.db.kysely, response.chat_id, title ?? instantTitle(question), calls.pending);
    deps.responses.notifyActivity(response.owner_id, response.chat_id);
  });
}
