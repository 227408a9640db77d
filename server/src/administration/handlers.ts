import type { adminEndpoints } from '@homeport/contracts/admin';
import type { operationEndpoints } from '@homeport/contracts/operations';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';
import { networkOrigin } from '../http/network-origin.ts';
import { ownOrigin } from '../http/origin.ts';
import { readOverview } from './overview.ts';
import { listPeople } from './people-list.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'clock'>;

/** GET /api/admin/overview */
export const getOverview: Handler<Needs, (typeof operationEndpoints)['getOverview']> = async (deps, { request }) => ({
  overview: await readOverview(deps, networkOrigin(deps.config, ownOrigin(deps.config, request))),
});

/** GET /api/admin/users */
export const getAdminUsers: Handler<Needs, (typeof adminEndpoints)['getAdminUsers']> = (deps, { query }) =>
  listPeople(deps, query);
