import type { adminEndpoints } from '@homeport/contracts/admin';
import type { operationEndpoints } from '@homeport/contracts/operations';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';
import { readOverview } from './overview.ts';
import { listPeople } from './people-list.ts';

type Needs = Pick<Deps, 'config' | 'db' | 'clock'>;

/** GET /api/admin/overview */
export const getOverview: Handler<Needs, (typeof operationEndpoints)['getOverview']> = async (deps) => ({
  overview: await readOverview(deps),
});

/** GET /api/admin/users */
export const getAdminUsers: Handler<Needs, (typeof adminEndpoints)['getAdminUsers']> = (deps, { query }) =>
  listPeople(deps, query);
