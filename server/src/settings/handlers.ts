import type { systemEndpoints } from '@homeport/contracts/system';
import type { Handler } from '../http/handler.ts';
import { type PublicConfigDeps, readPublicConfig } from './public-config.ts';

export const getPublicConfig: Handler<PublicConfigDeps, typeof systemEndpoints.getPublicConfig> = (deps) =>
  readPublicConfig(deps);
