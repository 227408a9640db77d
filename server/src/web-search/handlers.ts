import { ApiError } from '@homeport/contracts/errors';
import type { webSearchEndpoints } from '@homeport/contracts/web-search';
import { type Handler, sourceOf } from '../http/handler.ts';
import { AccountSemaphore, largeReads } from '../platform/concurrency/account-semaphore.ts';
import { search } from './search.ts';
import {
  changeWebSearch,
  findTestedService,
  getOwnWebSearch,
  getWebSearchSettings,
  installation,
  type WebSearchDeps,
} from './settings.ts';
import { readSources } from './sources.ts';

type WebHandler<Name extends keyof typeof webSearchEndpoints> = Handler<
  WebSearchDeps,
  (typeof webSearchEndpoints)[Name]
>;

const tested = { query: 'Homeport', count: 3, domains: [] };
/** Tests of one account at once, in this process. */
const testsAtOnce = new AccountSemaphore(2);

/** GET /api/admin/web-search */
export const getWebSearch: WebHandler<'getWebSearch'> = async (deps) => ({
  webSearch: await getWebSearchSettings(deps),
});

/** PUT /api/admin/web-search */
export const putWebSearch: WebHandler<'putWebSearch'> = async (deps, input) => {
  await changeWebSearch(deps, installation, input.body, sourceOf(input));
  return { webSearch: await getWebSearchSettings(deps) };
};

/** POST /api/admin/web-search/test */
export const postWebSearchTest: WebHandler<'postWebSearchTest'> = (deps, { body, actor, request }) =>
  testService(deps, { id: installation, actorId: actor.id }, body ?? {}, request.signal);

/** GET /api/me/web-search */
export const getMyWebSearch: WebHandler<'getMyWebSearch'> = async (deps, { actor }) => ({
  webSearch: await getOwnWebSearch(deps, actor),
});

/** PUT /api/me/web-search */
export const putMyWebSearch: WebHandler<'putMyWebSearch'> = async (deps, input) => {
  await changeWebSearch(deps, input.actor.id, input.body, sourceOf(input));
  return { webSearch: await getOwnWebSearch(deps, input.actor) };
};

/** POST /api/me/web-search/test */
export const postMyWebSearchTest: WebHandler<'postMyWebSearchTest'> = (deps, { body, actor, request }) =>
  testService(deps, { id: actor.id, actorId: actor.id }, body ?? {}, request.signal);

/** GET /api/chats/sources */
export const getChatSources: WebHandler<'getChatSources'> = async (deps, { actor, query, request }) => ({
  sources: await largeReads.run(actor.id, () => readSources(deps.db, actor.id, query), request.signal),
});

async function testService(
  deps: WebSearchDeps,
  { id, actorId }: { id: string; actorId: string },
  given: Parameters<typeof findTestedService>[2],
  signal: AbortSignal,
): Promise<{ ok: true; results: number }> {
  const access = await findTestedService(deps, id, given);
  if (access === undefined) {
    const details = [{ path: 'kind', message: 'Choose a search service' }];
    throw new ApiError('invalid_request', 'There is no search service to test.', { details });
  }
  const results = await testsAtOnce.run(actorId, () => search(deps, access, tested, signal), signal);
  return { ok: true, results: results.length };
}
