import type { Lesson } from '@homeport/contracts/catalogue/model-facts';
import { queryOptions } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { type CallOptions, call } from '../api/api.ts';
import { catalogueQuery, tiersQuery } from '../api/queries.ts';

/** The person whose catalogue an administrator edits (community edition). */
export type CatalogueOwner = { userId: string; name: string };

/** Owner of the catalogue for the components below; undefined: the signed-in user, or the shared catalogue. */
export const CatalogueOwnerContext = createContext<CatalogueOwner | undefined>(undefined);

export function useCatalogueOwner(): CatalogueOwner | undefined {
  return use(CatalogueOwnerContext);
}

export type CatalogueApi = ReturnType<typeof catalogueApi>;

/**
 * The calls for one catalogue. A change to any catalogue invalidates all cached ones, since an administrator can also
 * edit their own catalogue by its owner's id.
 */
export function useCatalogueApi(): CatalogueApi {
  return catalogueApi(useCatalogueOwner()?.userId);
}

type Body<R extends Parameters<typeof call>[0]> = CallOptions<R> extends { body?: infer B } ? B : never;

function catalogueApi(userId: string | undefined) {
  if (userId === undefined) return { query: catalogueQuery, tiersQuery, ...ownCalls };
  const query = { userId };
  return {
    query: queryOptions({
      queryKey: [...catalogueQuery.queryKey, userId],
      queryFn: ({ signal }) => call('GET /api/admin/providers', { query, signal }),
      staleTime: 15_000,
    }),
    tiersQuery: queryOptions({
      queryKey: [...catalogueQuery.queryKey, userId, 'tiers'],
      queryFn: ({ signal }) => call('GET /api/admin/model-tiers', { query, signal }),
      staleTime: 15_000,
    }),
    forgetLessons: undefined,
    createProvider: (body: Body<'POST /api/providers'>) => call('POST /api/admin/providers', { query, body }),
    changeProvider: (body: Body<'PATCH /api/providers'>) => call('PATCH /api/admin/providers', { query, body }),
    deleteProvider: (id: string) => call('DELETE /api/admin/providers', { query: { userId, id } }),
    testProvider: (body: Body<'POST /api/providers/test'>, signal: AbortSignal) =>
      call('POST /api/admin/providers/test', { query, body, signal }),
    createModel: (body: Body<'POST /api/models'>) => call('POST /api/admin/models', { query, body }),
    changeModel: (body: Body<'PATCH /api/models'>) => call('PATCH /api/admin/models', { query, body }),
    deleteModel: (id: string) => call('DELETE /api/admin/models', { query: { userId, id } }),
    replaceTiers: (body: Body<'PUT /api/model-tiers'>) => call('PUT /api/admin/model-tiers', { query, body }),
  };
}

const ownCalls = {
  forgetLessons: (id: string, about: Lesson['about']) => call('DELETE /api/models/lessons', { query: { id, about } }),
  createProvider: (body: Body<'POST /api/providers'>) => call('POST /api/providers', { body }),
  changeProvider: (body: Body<'PATCH /api/providers'>) => call('PATCH /api/providers', { body }),
  deleteProvider: (id: string) => call('DELETE /api/providers', { query: { id } }),
  testProvider: (body: Body<'POST /api/providers/test'>, signal: AbortSignal) =>
    call('POST /api/providers/test', { body, signal }),
  createModel: (body: Body<'POST /api/models'>) => call('POST /api/models', { body }),
  changeModel: (body: Body<'PATCH /api/models'>) => call('PATCH /api/models', { body }),
  deleteModel: (id: string) => call('DELETE /api/models', { query: { id } }),
  replaceTiers: (body: Body<'PUT /api/model-tiers'>) => call('PUT /api/model-tiers', { body }),
};
