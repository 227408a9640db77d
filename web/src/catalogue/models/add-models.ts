import type { Model } from '@homeport/contracts/catalogue/catalogue';
import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { limits } from '@homeport/contracts/limits';
import type { CatalogueApi } from '../catalogue-api.ts';
import { type ModelSizes, nameOfId, sizesBody } from './model-values.ts';

export type AddedModels = { added: Model[]; failed: { id: string; failure: unknown }[] };

export type ModelsToAdd = {
  providerId: string;
  ids: readonly string[];
  /** For models with unknown sizes. */
  sizes: ModelSizes;
  known: ReadonlyMap<string, ListedModel>;
};

/**
 * Adds models one after the other in the given order: the first becomes the default if there was none. A refusal does
 * not stop the others.
 */
export async function addModels(
  api: Pick<CatalogueApi, 'createModel'>,
  { providerId, ids, sizes, known }: ModelsToAdd,
  onProgress: (done: number) => void,
): Promise<AddedModels> {
  const added: Model[] = [];
  const failed: AddedModels['failed'] = [];
  for (const [index, providerModelId] of ids.entries()) {
    onProgress(index);
    try {
      const body = { providerId, providerModelId, ...modelBody(providerModelId, sizes, known.get(providerModelId)) };
      added.push((await api.createModel(body)).model);
    } catch (failure) {
      failed.push({ id: providerModelId, failure });
    }
  }
  return { added, failed };
}

/** Request body for a new model. Known facts take precedence over the sizes entered for all. */
export function modelBody(id: string, sizes: ModelSizes, known: ListedModel | undefined) {
  const typed = sizesBody(sizes);
  const {
    displayName,
    contextWindow = typed.contextWindow,
    maxOutputTokens,
    abilities,
    prices,
    sources = {},
  } = known ?? {};
  const longest = Math.min(maxOutputTokens ?? typed.maxOutputTokens, contextWindow);
  return {
    displayName: displayName?.slice(0, limits.displayNameMax).trim() || nameOfId(id),
    contextWindow,
    maxOutputTokens: longest,
    tier: typed.tier,
    ...(sources.abilities === undefined ? {} : { abilities }),
    ...(prices === undefined ? {} : { prices }),
    sources,
  };
}
