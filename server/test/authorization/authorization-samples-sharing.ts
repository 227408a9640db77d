import type { EndpointName } from '@homeport/contracts/endpoints';
import { nothing, type Sample } from './authorization-sample.ts';

/** Samples of share links. Readers need no session, because the installation allows public links here. */

const include = { reasoning: false, tools: false, files: false, author: false };
/** The shares of a disabled account. */
const closed = { disabled: 404, 'workspace of a disabled account': 404 };
const common = { audience: 'people', expiresAt: null, include };

export const sharingSamples = {
  getShares: nothing,
  postShare: {
    request: ({ records, id }) => ({
      body: { chatId: records.chat, leafMessageId: records.answer, userIds: [id], ...common },
    }),
    own: 201,
    ids: {
      'body.chatId': { names: 'chat' },
      'body.leafMessageId': { names: 'message' },
      'body.artifactId': {
        names: 'artifact',
        anywhere: true,
        request: ({ records, id }) => ({ body: { artifactId: records.artifact, userIds: [id], ...common } }),
      },
      'body.userIds.*': { names: 'person' },
    },
  },
  patchShare: {
    request: ({ records, id }) => ({ body: { id: records.share, audience: 'people', userIds: [id] } }),
    own: 200,
    ids: { 'body.id': { names: 'share' }, 'body.userIds.*': { names: 'person' } },
  },
  deleteShare: {
    request: ({ records }) => ({ query: { id: records.share } }),
    own: 200,
    ids: { 'query.id': { names: 'share' } },
  },
  postShareUpdate: {
    request: ({ records }) => ({ body: { id: records.share, leafMessageId: records.answer } }),
    own: 200,
    ids: { 'body.id': { names: 'share' }, 'body.leafMessageId': { names: 'message' } },
  },
  postShareOpen: { ...nothing, others: closed, request: ({ records }) => ({ body: { token: records.shareToken } }) },
  postShareCopy: { ...nothing, request: ({ records }) => ({ body: { token: records.shareToken } }), own: 201 },
  getShareFile: {
    ...nothing,
    others: closed,
    request: ({ records }) => ({ params: { token: records.shareToken, n: '0' } }),
  },
  getAdminShares: nothing,
  deleteAdminShare: {
    request: ({ records }) => ({ query: { id: records.share } }),
    own: 200,
    ids: { 'query.id': { names: 'share', openTo: 'administrator' } },
  },
} satisfies Partial<Record<EndpointName, Sample>>;
