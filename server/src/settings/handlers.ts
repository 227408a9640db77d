import type { adminEndpoints } from '@homeport/contracts/admin';
import type { operationSettingsEndpoints } from '@homeport/contracts/operation-settings';
import type { systemEndpoints } from '@homeport/contracts/system';
import { type Handler, sourceOf } from '../http/handler.ts';
import { ownOrigin } from '../http/origin.ts';
import type { Platform } from '../platform.ts';
import { redirectUri } from './oidc-provider.ts';
import { testOidc } from './oidc-test.ts';
import { getOperationSettings as readOperationSettings, updateOperationSettings } from './operation.ts';
import { type PublicConfigDeps, readMaintenance, readPageConfig } from './public-config.ts';
import { getAdminConfig as readAdminConfig, updateAdminConfig } from './settings.ts';

type SettingsDeps = Pick<Platform, 'config' | 'db' | 'secrets' | 'egress' | 'clock'>;
type AdminHandler<Name extends keyof typeof adminEndpoints> = Handler<SettingsDeps, (typeof adminEndpoints)[Name]>;

/** GET /api/public-config */
export const getPublicConfig: Handler<PublicConfigDeps, typeof systemEndpoints.getPublicConfig> = async (deps) => {
  const { maintenance: _, version: __, ...config } = await readPageConfig(deps);
  return config;
};

/** GET /api/maintenance */
export const getMaintenance: Handler<PublicConfigDeps, typeof systemEndpoints.getMaintenance> = async (deps) => ({
  maintenance: await readMaintenance(deps),
});

/** GET /api/admin/config */
export const getAdminConfig: AdminHandler<'getAdminConfig'> = (deps) => readAdminConfig(deps);

/** POST /api/admin/config */
export const postAdminConfig: AdminHandler<'postAdminConfig'> = (deps, input) =>
  updateAdminConfig(deps, sourceOf(input), input.body);

type OperationHandler<Name extends keyof typeof operationSettingsEndpoints> = Handler<
  SettingsDeps,
  (typeof operationSettingsEndpoints)[Name]
>;

/** GET /api/admin/settings */
export const getOperationSettings: OperationHandler<'getOperationSettings'> = async (deps) => ({
  settings: await readOperationSettings(deps),
});

/** PATCH /api/admin/settings */
export const patchOperationSettings: OperationHandler<'patchOperationSettings'> = async (deps, input) => ({
  settings: await updateOperationSettings(deps, input.body, sourceOf(input)),
});

/** POST /api/admin/oidc-test */
export const postOidcTest: AdminHandler<'postOidcTest'> = (deps, { body, request }) => {
  const origin = ownOrigin(deps.config, request);
  return testOidc(deps, body?.oidc, (providerKey) => redirectUri(origin, providerKey));
};
