import type { Model } from '@homeport/contracts/catalogue';
import { call } from '../api.ts';
import { type ModelSizes, nameOfId, sizesBody } from './model-values.ts';

export type AddedModels = { added: Model[]; failed: { id: string; failure: unknown }[] };

/**
 * Adds models one after the other, in the given order: the first one becomes the default where there was none. One that is
 * refused does not stop the others.
 */
export async function addModels(
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
      added.push((await call('POST /api/models', { body })).model);
    } catch (failure) {
      failed.push({ id: providerModelId, failure });
    }
  }
  return { added, failed };
}
