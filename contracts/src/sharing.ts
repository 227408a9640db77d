import { z } from 'zod';
import { chat } from './chat/conversations.ts';
import { messageFinishReasons } from './chat/finish-reasons.ts';
import { endpoint } from './endpoint.ts';
import * as fields from './fields.ts';
import { limits } from './limits.ts';
import { person } from './projects.ts';

/** Share links of conversations and files (contract.md section 12, "Shares"). */

const audience = z.enum(['link', 'signed_in', 'people']);
export type ShareAudience = z.infer<typeof audience>;

/** Audiences that the installation allows: none, readers with an account here, or every reader with the link. */
export const sharingPolicy = z.enum(['off', 'inside', 'public']);
export type SharingPolicy = z.infer<typeof sharingPolicy>;

/** Parts of the messages that are published; the rest is removed before the snapshot is stored. */
const include = z.object({ reasoning: z.boolean(), tools: z.boolean(), files: z.boolean(), author: z.boolean() });
export type ShareInclude = z.infer<typeof include>;

const shareFacts = {
  id: fields.id,
  kind: z.enum(['chat', 'file']),
  title: z.string(),
  audience,
  expiresAt: fields.timestamp.nullable(),
  views: z.number().int(),
  createdAt: fields.timestamp,
  /** Time of the snapshot. */
  updatedAt: fields.timestamp,
};

/** A share as its owner sees it. The address appears once, in the answer that creates the share. */
const share = z.object({
  ...shareFacts,
  chatId: fields.id.nullable(),
  artifactId: fields.id.nullable(),
  include,
  hasPassword: z.boolean(),
  /** The readers of the audience `people`. */
  userIds: z.array(fields.id),
  /** The same readers, by name. */
  people: z.array(person),
});
export type Share = z.infer<typeof share>;

/** A share as administrators see it: without its title, which is a person's text. */
const managedShare = z.object({
  id: fields.id,
  kind: shareFacts.kind,
  audience,
  expiresAt: shareFacts.expiresAt,
  views: shareFacts.views,
  hasPassword: z.boolean(),
  owner: z.object({ id: fields.id, name: z.string(), email: z.string() }),
  createdAt: fields.timestamp,
  updatedAt: fields.timestamp,
});
export type ManagedShare = z.infer<typeof managedShare>;

const sharedMessage = z.object({
  id: fields.id,
  role: z.enum(['user', 'assistant']),
  /** As the parts of a message; the url of a file is `share-file:<n>`, its place in `files`. */
  parts: z.array(z.looseObject({ type: z.string() })),
  status: z.enum(['complete', 'stopped', 'failed', 'interrupted']),
  finishReason: z.enum(messageFinishReasons).nullable(),
  createdAt: fields.timestamp,
});
const sharedFile = z.object({
  n: z.number().int(),
  filename: z.string(),
  mediaType: z.string(),
  size: z.number().int(),
  url: z.string(),
});
const openedShare = z.object({
  /** `author` is null unless it is published. */
  share: z.object({ ...shareFacts, author: z.string().nullable() }),
  messages: z.array(sharedMessage),
  files: z.array(sharedFile),
});
export type OpenedShare = z.infer<typeof openedShare>;

/** A place where the text looks like a key; never the key itself. */
const secretPlace = z.object({
  messageId: fields.id.nullable(),
  filename: z.string().nullable(),
  kind: z.string(),
  /** The first characters. */
  start: z.string(),
});
export type SecretPlace = z.infer<typeof secretPlace>;

const userIds = z.array(fields.id).max(limits.shareUsersMax);
const password = z.string().min(limits.sharePasswordMin).max(limits.sharePasswordMax);

const shareBody = z
  .object({
    chatId: fields.id.optional(),
    leafMessageId: fields.id.optional(),
    artifactId: fields.id.optional(),
    audience,
    userIds: userIds.optional(),
    password: password.optional(),
    expiresAt: fields.givenTime.nullable().optional(),
    include: include.partial().optional(),
    /** Publishes although texts look like keys. */
    confirmSecrets: z.boolean().optional(),
  })
  .refine((body) => (body.chatId === undefined) !== (body.artifactId === undefined), {
    message: 'Give exactly one of chatId and artifactId',
    path: ['chatId'],
  })
  .refine((body) => body.chatId === undefined || body.leafMessageId !== undefined, {
    message: 'Needed with chatId',
    path: ['leafMessageId'],
  })
  .refine((body) => body.audience !== 'people' || (body.userIds ?? []).length > 0, {
    message: 'Needed for the audience people',
    path: ['userIds'],
  });
export type ShareBody = z.output<typeof shareBody>;

const sharePatch = z.object({
  id: fields.id,
  audience: audience.optional(),
  userIds: userIds.optional(),
  /** Null removes it. */
  password: password.nullable().optional(),
  expiresAt: fields.givenTime.nullable().optional(),
});
export type SharePatch = z.output<typeof sharePatch>;

const page = { limit: fields.pageLimit, cursor: fields.cursor };
const nextCursor = z.string().nullable();
const ended = z.object({ ok: z.literal(true), deleted: z.number().int() });
const oneOrAll = z
  .object({ id: fields.id.optional(), all: fields.booleanFlag.optional() })
  .refine((query) => (query.id === undefined) === (query.all === true), {
    message: 'Give either id or all=1',
    path: ['id'],
  });
const token = z.string().min(1).max(limits.shareTokenMax);
const opening = z.object({ token, password: z.string().max(limits.sharePasswordMax).optional() });
const openingFailures = ['not_found', 'unauthorized', 'share_password', 'rate_limited'] as const;
const snapshotFailures = ['not_found', 'sharing_disabled', 'secrets_found', 'payload_too_large'] as const;

export const sharingEndpoints = {
  getShares: endpoint({
    method: 'GET',
    path: '/api/shares',
    access: 'session',
    summary: "The caller's share links, newest first, and the installation's sharing setting",
    query: z.object(page),
    response: z.object({ shares: z.array(share), nextCursor, sharing: sharingPolicy }),
  }),
  postShare: endpoint({
    method: 'POST',
    path: '/api/shares',
    access: 'session',
    summary: 'Publishes a snapshot of a conversation or file; the address appears this once',
    body: shareBody,
    response: z.object({ share, url: z.string() }),
    status: 201,
    errors: snapshotFailures,
  }),
  patchShare: endpoint({
    method: 'PATCH',
    path: '/api/shares',
    access: 'session',
    summary: 'Changes audience, password or end of a share; takes effect with the next request',
    body: sharePatch,
    response: z.object({ share }),
    errors: ['not_found', 'sharing_disabled'],
  }),
  deleteShare: endpoint({
    method: 'DELETE',
    path: '/api/shares',
    access: 'session',
    summary: 'Ends one share, or with all=1 all of them, at once',
    query: oneOrAll,
    response: ended,
    errors: ['not_found'],
  }),
  postShareUpdate: endpoint({
    method: 'POST',
    path: '/api/shares/update',
    access: 'session',
    summary: 'Replaces the snapshot under the same address; by default up to the newest message of the shared branch',
    body: z.object({
      id: fields.id,
      leafMessageId: fields.id.optional(),
      confirmSecrets: z.boolean().optional(),
    }),
    response: z.object({ share }),
    errors: snapshotFailures,
  }),
  postShareOpen: endpoint({
    method: 'POST',
    path: '/api/shares/open',
    access: 'public',
    summary: 'Reads a share by the token of its address; a session counts if there is one',
    body: opening,
    response: openedShare,
    errors: openingFailures,
  }),
  postShareCopy: endpoint({
    method: 'POST',
    path: '/api/shares/copy',
    access: 'session',
    summary: "Copies a share into the reader's own conversations",
    body: opening,
    response: z.object({ chat }),
    status: 201,
    errors: ['not_found', 'share_password', 'rate_limited', 'storage_full'],
  }),
  getShareFile: endpoint({
    method: 'GET',
    path: '/s/:token/files/:n',
    access: 'public',
    summary: 'One file of a share; the address comes from POST /api/shares/open',
    params: z.object({ token, n: z.string().max(10) }),
    query: z.object({ expires: z.string().max(20).optional(), signature: z.string().max(64).optional() }),
    response: 'file',
    ranges: true,
    errors: openingFailures,
  }),
  getAdminShares: endpoint({
    method: 'GET',
    path: '/api/admin/shares',
    access: 'admin',
    summary: 'The share links of all people, newest first, without titles and contents',
    query: z.object(page),
    response: z.object({ shares: z.array(managedShare), nextCursor }),
  }),
  deleteAdminShare: endpoint({
    method: 'DELETE',
    path: '/api/admin/shares',
    access: 'admin',
    summary: 'Ends one share of anybody, or with all=1 all of them',
    query: oneOrAll,
    response: ended,
    errors: ['not_found'],
  }),
} as const;
