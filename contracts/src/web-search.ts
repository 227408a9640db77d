import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import * as fields from './fields.ts';
import { limits } from './limits.ts';
import { searchKinds } from './search-kinds.ts';
import { trimEndOf } from './text/trim-characters.ts';

/** Web search: the installation's search service, and a person's own (contract.md section 12, "Web"). */

const kind = z.enum(['off', ...searchKinds]);

/** Tools with effects need approval in a turn that has read from the web; `forced`: no user can switch that off. */
const askAfterReading = z.enum(['off', 'on', 'forced']);
const ownAskAfterReading = z.enum(['off', 'on']);

const service = {
  kind,
  /** Origin of the service; null: the service's own. */
  baseUrl: z.string().nullable(),
  hasApiKey: z.boolean(),
  /** Set when the stored key cannot be decrypted with the current key of the installation. */
  credentialsError: z.literal('credentials_unreadable').optional(),
  /** The origin that the key belongs to, if it differs from the service's; the key is then not sent. */
  credentialsOrigin: z.string().optional(),
};
const webSearch = z.object({ ...service, forEveryone: z.boolean(), askAfterReading });
export type WebSearchSettings = z.infer<typeof webSearch>;
const ownWebSearch = z.object({
  ...service,
  askAfterReading: ownAskAfterReading,
  /** The administrators' rule comes before the person's. */
  isAskForced: z.boolean(),
  /** The installation has a search service that this person can use without a key. */
  isOffered: z.boolean(),
});
export type OwnWebSearch = z.infer<typeof ownWebSearch>;

/** An origin: scheme, host and port. The outbound guard decides at each call whether it is allowed. */
const origin = z
  .string()
  .trim()
  .max(limits.baseUrlMax)
  .overwrite((text) => trimEndOf(text, '/'))
  .refine((text) => fields.isServerAddress(text) && isOrigin(text), {
    message: 'An http or https origin without a path, like https://search.example.org',
  });

function isOrigin(text: string): boolean {
  const { pathname, search } = new URL(text);
  return pathname === '/' && search === '' && !text.includes('?');
}

const apiKey = z
  .string()
  .trim()
  .min(1)
  .max(limits.apiKeyMax)
  .regex(/^[\x21-\x7e]+$/, 'Printable ASCII characters without spaces');

/** An omitted key is kept, null clears it. */
const changes = { kind, baseUrl: origin.nullable().optional(), apiKey: apiKey.nullable().optional() };
const needsOrigin = (body: { kind?: string; baseUrl?: string | null }) =>
  body.kind !== 'searxng' || typeof body.baseUrl === 'string';
const originMissing = { message: 'Needed for SearXNG', path: ['baseUrl'] };

const changeBody = z
  .object({ ...changes, forEveryone: z.boolean().optional(), askAfterReading: askAfterReading.optional() })
  .refine(needsOrigin, originMissing);
const ownChangeBody = z
  .object({ ...changes, askAfterReading: ownAskAfterReading.optional() })
  .refine(needsOrigin, originMissing);
export type WebSearchChange = z.output<typeof changeBody>;

/** Omitted members are tested as they are stored. */
const testBody = z
  .object({ ...changes, kind: kind.optional() })
  .refine(needsOrigin, originMissing)
  .optional();
const testResponse = z.object({ ok: z.literal(true), results: z.number().int() });
const testErrors = ['search_error', 'credentials_unreadable', 'blocked_destination', 'rate_limited'] as const;

/** A page or a search result, as the model got it; `number` is how the answer cites it. */
const webSource = z.object({
  id: fields.id,
  number: z.number().int(),
  url: z.string(),
  title: z.string(),
  readAt: fields.timestamp,
  publishedAt: z.string().nullable(),
  /** False for a search result that was cited without being read. */
  isPage: z.boolean(),
  /** SHA-256 of the text, in hexadecimal digits. */
  hash: z.string(),
  text: z.string(),
  /** Quotes in the answer that are followed by this number; `found`: the text has these very words. */
  quotes: z.array(z.object({ text: z.string(), found: z.boolean() })),
});
export type WebSource = z.infer<typeof webSource>;

export const webSearchEndpoints = {
  getWebSearch: endpoint({
    method: 'GET',
    path: '/api/admin/web-search',
    access: 'admin',
    scope: 'admin:read',
    summary: "The installation's search service, never its key",
    response: z.object({ webSearch }),
  }),
  putWebSearch: endpoint({
    method: 'PUT',
    path: '/api/admin/web-search',
    access: 'admin',
    summary: "Replaces the installation's search service; an omitted key is kept, null clears it",
    body: changeBody,
    response: z.object({ webSearch }),
  }),
  postWebSearchTest: endpoint({
    method: 'POST',
    path: '/api/admin/web-search/test',
    access: 'admin',
    scope: 'admin:write',
    summary: 'Searches once with the stored or the given settings, and names the reason of a failure',
    body: testBody,
    response: testResponse,
    errors: testErrors,
  }),
  getMyWebSearch: endpoint({
    method: 'GET',
    path: '/api/me/web-search',
    access: 'session',
    summary: 'The own search service, never its key',
    response: z.object({ webSearch: ownWebSearch }),
  }),
  putMyWebSearch: endpoint({
    method: 'PUT',
    path: '/api/me/web-search',
    access: 'session',
    summary: "Replaces the own search service; with kind off, the installation's is used",
    body: ownChangeBody,
    response: z.object({ webSearch: ownWebSearch }),
  }),
  postMyWebSearchTest: endpoint({
    method: 'POST',
    path: '/api/me/web-search/test',
    access: 'session',
    summary: 'Searches once with the own stored or the given settings',
    body: testBody,
    response: testResponse,
    errors: testErrors,
  }),
  getChatSources: endpoint({
    method: 'GET',
    path: '/api/chats/sources',
    access: 'session',
    scope: 'chats:read',
    summary: 'Pages that an answer has read and all that it cites from the web, as the model got them',
    query: z.object({ chatId: fields.id, messageId: fields.id }),
    response: z.object({ sources: z.array(webSource) }),
    errors: ['not_found'],
  }),
} as const;
