import type { EndpointName } from '@homeport/contracts/endpoints';
import type { Sample } from './authorization-sample.ts';
import { actorPassword } from './authorization-world.ts';

/** Requests about imports and exports. */

export const operationSamples = {
  postImport: { request: () => ({ query: { dryRun: '1' }, upload: '[]' }), own: 202, ids: {} },
  getImports: {
    request: ({ records }) => ({ query: { id: records.import } }),
    own: 200,
    ids: { 'query.id': { names: 'import' } },
  },
  postImportStart: {
    request: ({ records }) => ({ body: { id: records.import } }),
    own: 200,
    ids: { 'body.id': { names: 'import' } },
  },
  deleteImport: {
    request: ({ records }) => ({ query: { id: records.import } }),
    own: 200,
    ids: { 'query.id': { names: 'import' } },
  },
  getMyExport: { request: () => ({}), own: 200, ids: {} },
  deleteMe: { request: () => ({ body: { password: actorPassword } }), own: 200, ids: {} },
  deleteAdminUser: {
    request: ({ records }) => ({ query: { id: records.person, data: 'delete' } }),
    own: 200,
    ids: { 'query.id': { names: 'person' } },
  },
} satisfies Partial<Record<EndpointName, Sample>>;
