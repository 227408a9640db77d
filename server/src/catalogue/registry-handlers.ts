import type { modelRegistryEndpoints } from '@homeport/contracts/catalogue/model-registry';
import { type Handler, sourceOf } from '../http/handler.ts';
import type { Platform } from '../platform.ts';
import { describeRegistry, dropRegistry, uploadRegistry } from './registry/current-registry.ts';

type RegistryHandler<Name extends keyof typeof modelRegistryEndpoints> = Handler<
  Pick<Platform, 'db' | 'sandbox'>,
  (typeof modelRegistryEndpoints)[Name]
>;

/** GET /api/admin/model-registry */
export const getModelRegistry: RegistryHandler<'getModelRegistry'> = (deps) => describeRegistry(deps);

/** PUT /api/admin/model-registry */
export const putModelRegistry: RegistryHandler<'putModelRegistry'> = (deps, input) =>
  uploadRegistry(deps, input.body.bytes, sourceOf(input), input.request.signal);

/** DELETE /api/admin/model-registry */
export const deleteModelRegistry: RegistryHandler<'deleteModelRegistry'> = (deps, input) =>
  dropRegistry(deps, sourceOf(input));
