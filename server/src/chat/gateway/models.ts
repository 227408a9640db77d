import { ApiError } from '@homeport/contracts/errors';
import { listNamedAssistants, type NamedAssistant } from '../../assistants/named-assistants.ts';
import { catalogueOwner } from '../../catalogue/catalogue-owner.ts';
import { findModelByName, listUsableModels, type ResolvedModel, resolveModel } from '../../catalogue/model-choice.ts';
import type { TurnDeps } from '../run/model-call.ts';
import { assistantModelName, findAssistantModel } from './assistant/assistant-models.ts';

/** Models by the names that clients use, in the shapes of OpenAI and Anthropic. */

type ListedModel = Awaited<ReturnType<typeof listUsableModels>>[number];

/** A model by what a client calls it. Throws `not_found` with what to do. */
export async function modelOf(deps: TurnDeps, userId: string, name: string): Promise<ResolvedModel> {
  const owner = catalogueOwner(deps.config, userId);
  if (name === 'default') return resolveModel(deps, owner, {});
  const found = await findModelByName(deps, owner, name);
  if (found !== undefined) return found;
  throw modelNotFound();
}

function modelNotFound(): ApiError {
  const message = 'No model has this name. GET /v1/models lists them; "default" is always there.';
  return new ApiError('not_found', message, { details: [{ path: 'model', message, code: 'model_not_found' }] });
}

export function listModels(deps: TurnDeps, userId: string): Promise<ListedModel[]> {
  return listUsableModels(deps, catalogueOwner(deps.config, userId));
}

/** A model or an assistant, as clients list it. */
type Listing = Pick<ListedModel, 'name' | 'displayName' | 'providerName' | 'createdAt'> &
  Partial<Pick<ListedModel, 'contextWindow' | 'maxOutputTokens'>>;

/** The models, then the assistants if the caller may use them. */
export async function listAll(deps: TurnDeps, userId: string, mayUseAssistants: boolean): Promise<Listing[]> {
  const [models, assistants] = await Promise.all([
    listModels(deps, userId),
    mayUseAssistants ? listNamedAssistants(deps.db.kysely, userId) : [],
  ]);
  return [...models, ...assistants.map(listingOf)];
}

function listingOf(assistant: NamedAssistant): Listing {
  const { name, ownerName, createdAt } = assistant;
  return { name: assistantModelName(assistant), displayName: name, providerName: ownerName, createdAt };
}

/** One of the list. Throws `not_found`. */
export async function listedModel(deps: TurnDeps, userId: string, name: string): Promise<Listing> {
  const assistant = await findAssistantModel(deps, userId, name);
  if (assistant !== undefined) return listingOf(assistant);
  const models = await listModels(deps, userId);
  const known = models.find((model) => model.name === name);
  if (known !== undefined) return known;
  const { model } = await modelOf(deps, userId, name);
  const found = models.find(({ id }) => id === model.id);
  if (found === undefined) throw modelNotFound();
  return found;
}

export function openAiModel({ name, providerName, createdAt, contextWindow, maxOutputTokens }: Listing) {
  return {
    id: name,
    object: 'model' as const,
    created: Math.floor(createdAt.getTime() / 1000),
    owned_by: providerName,
    context_length: contextWindow,
    max_output_tokens: maxOutputTokens,
  };
}

export function anthropicModel({ name, displayName, createdAt }: Listing) {
  return { type: 'model' as const, id: name, display_name: displayName, created_at: createdAt.toISOString() };
}

type Page = { limit: number; afterId?: string | undefined; beforeId?: string | undefined };

/** One page of the models, as Anthropic's clients read it. */
export function anthropicPage(models: readonly Listing[], { limit, afterId, beforeId }: Page) {
  const after = afterId === undefined ? -1 : models.findIndex(({ name }) => name === afterId);
  const before = beforeId === undefined ? -1 : models.findIndex(({ name }) => name === beforeId);
  const end = before === -1 ? models.length : before;
  const rest = models.slice(after + 1, end);
  const page = before === -1 ? rest.slice(0, limit) : rest.slice(-limit);
  const data = page.map(anthropicModel);
  return {
    data,
    has_more: page.length < rest.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}
