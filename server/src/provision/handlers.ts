import type { provisionEndpoints } from '@homeport/contracts/provision/provision';
import type { Deps } from '../deps.ts';
import { type Handler, sourceOf } from '../http/handler.ts';
import { provisionInstallation } from './provision.ts';

/** POST /api/admin/provision */
export const postProvision: Handler<Deps, (typeof provisionEndpoints)['postProvision']> = async (deps, input) => {
  const { actor, body, query, request } = input;
  const { report, disabledIds } = await provisionInstallation(deps, {
    sent: body,
    dryRun: query.dryRun ?? false,
    sessionId: actor.sessionId,
    source: sourceOf(input),
    signal: request.signal,
  });
  for (const userId of disabledIds) await deps.accountDisabled(userId);
  const { applied, warnings } = report;
  return query.changes === true ? report : { applied, warnings };
};
