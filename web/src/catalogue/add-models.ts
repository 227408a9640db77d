import type { Model } from '@homeport/contracts/catalogue';
import type { CatalogueApi } from './catalogue-api.ts';
import { type ModelSizes, nameOfId, sizesBody } from './model-values.ts';

export type AddedModels = { added: Model[]; failed: { id: string; failure: unknown }[] };

/**
 * Adds models one after the other, in the given order: the first one becomes the default where there was none. One that is
 * refused does not stop the others.
 */
export async function addModels(
  api: Pick<CatalogueApi, 'createModel'>,
  providerId: string,
  ids: readonly string[],
  sizes: ModelSizes,
  onProgress: (done: number) => void,
): Promise<AddedModels> {
  const added: Model[] = [];
  const failed: AddedModels['failed'] = [];
  for (const [index, providerModelId] of ids.entries()) {
    onProgress(index);
    try {
      const body = { providerId, providerModelId, displayName: nameOfId(providerModelId), ...sizesBody(sizes) };
      added.push((await api.createModel(body)).model);
    } catch (failure) {
      failed.push({ id: providerModelId, failure });
    }
  }
  return { added, failed };
}
