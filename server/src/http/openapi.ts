import { type EndpointSpec, maxBodyBytes } from '@homeport/contracts/endpoint';
import { type ErrorCode, errorStatus } from '@homeport/contracts/errors';
import { z } from 'zod';
import { requestBodyBudgetBounds } from './body/request-body-budget.ts';
import { isClosedByMaintenance } from './guard.ts';

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of the endpoint table, from the same schemas that validate (contract.md section 10). */
export function openapiDocument(
  endpoints: Readonly<Record<string, EndpointSpec>>,
  { version, isSecure }: { version: string; isSecure: boolean },
): Json & { openapi: string } {
  const paths: Record<string, Json> = {};
  for (const [name, spec] of Object.entries(endpoints)) {
    const path = spec.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [spec.method.toLowerCase()]: operation(name, spec) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Homeport',
      version,
      description:
        "Homeport's JSON API. It serves Homeport's own browser client and is not versioned for other programs. " +
        'Stable for automation are /api/health, /api/setup and the installation manifest.',
    },
    paths,
    components: {
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: `${isSecure ? '__Secure-' : ''}homeport.session_token` },
        token: { type: 'http', scheme: 'bearer', description: 'A personal access token with the scope in `x-scope`' },
        workspace: { type: 'http', scheme: 'bearer', description: "The workspace's own token" },
      },
      schemas: { Error: errorSchema },
    },
  };
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'code', 'requestId'],
      properties: {
        message: { type: 'string' },
        code: { type: 'string', enum: Object.keys(errorStatus) },
        requestId: { type: 'string' },
        details: {},
      },
    },
  },
};

function operation(name: string, spec: EndpointSpec): Json {
  const status = String(spec.status ?? 200);
  return {
    operationId: name,
    summary: spec.summary,
    'x-access': spec.access,
    ...(spec.scope === undefined ? {} : { 'x-scope': spec.scope }),
    ...(spec.access === 'public' ? {} : { security: security(spec) }),
    parameters: [
      ...parameters(spec.params, 'path'),
      ...parameters(spec.query, 'query'),
      ...parameters(spec.headers, 'header'),
    ],
    ...(spec.body === undefined ? {} : { requestBody: requestBody(spec.body, spec.bytes) }),
    ...(spec.form === undefined ? {} : { requestBody: formBody(spec.form) }),
    ...(spec.upload === true ? { requestBody: uploadBody } : {}),
    responses: { ...failures(spec), [status]: success(spec), ...ranges(spec), ...others(spec) },
  };
}

function security({ access, scope, publicWith }: EndpointSpec): Json[] {
  if (access === 'workspace') return [{ workspace: [] }];
  if (access === 'token') return [{ token: [] }];
  const tokens = scope === undefined ? [] : [{ token: [] }];
  return [{ session: [] }, ...tokens, ...(publicWith === undefined ? [] : [{}])];
}

/** Any type is accepted; this one says nothing about the content. */
const uploadBody: Json = {
  required: false,
  content: { 'application/octet-stream': { schema: { type: 'string', contentMediaType: 'application/octet-stream' } } },
};

function requestBody(body: z.ZodType, types: readonly string[] = ['application/json']): Json {
  const required = !body.safeParse(undefined).success;
  const schema = schemaOf(body, 'input');
  return { required, content: Object.fromEntries(types.map((type) => [type, { schema }])) };
}

/** A form and its file; the fields are text. */
function formBody(form: z.ZodType): Json {
  const { properties, required, ...rest } = schemaOf(form, 'input');
  const fields = typeof properties === 'object' ? properties : {};
  const schema = {
    ...rest,
    properties: { ...fields, file: { type: 'string', contentMediaType: 'application/octet-stream' } },
    required: [...(Array.isArray(required) ? required : []), 'file'],
  };
  return { required: true, content: { 'multipart/form-data': { schema } } };
}

function others(spec: EndpointSpec): Json {
  const answers = Object.entries(spec.others ?? {});
  return Object.fromEntries(
    answers.map(([status, schema]) => [status, schema === 'empty' ? { description: 'Nothing' } : jsonAnswer(schema)]),
  );
}

function jsonAnswer(schema: z.ZodType): { description: string; content: Json } {
  return { description: 'Done', content: { 'application/json': { schema: schemaOf(schema, 'output') } } };
}

function ranges(spec: EndpointSpec): Json {
  if (spec.ranges !== true) return {};
  return {
    206: { description: 'The bytes that Range requested', content: fileContent(spec) },
    304: { description: 'Not changed: If-None-Match names its ETag' },
    416: failure(['invalid_request']),
  };
}

function fileContent({ fileTypes = ['*/*'] }: EndpointSpec): Json {
  return Object.fromEntries(fileTypes.map((type) => [type, {}]));
}

function success(spec: EndpointSpec): Json {
  if (spec.response === 'stream') {
    return { description: 'AI SDK UI message stream, version 1', content: { 'text/event-stream': {} } };
  }
  if (spec.response === 'events') return { description: 'Server-sent events', content: { 'text/event-stream': {} } };
  if (spec.response === 'file') return { description: 'The file', content: fileContent(spec) };
  const { description, content } = jsonAnswer(spec.response);
  return { description, content: { ...content, ...(spec.fileTypes === undefined ? {} : fileContent(spec)) } };
}

/** Error codes listed in the endpoint table, and the codes implied by access, body and query. */
export function documentedErrors(spec: EndpointSpec): ErrorCode[] {
  const implied: ErrorCode[] = ['internal_error', 'database_unavailable', 'invalid_request'];
  if (spec.access === 'token') implied.push('invalid_api_key', 'insufficient_scope');
  else if (spec.access !== 'public') implied.push('unauthorized', 'account_disabled');
  if (takesSession(spec)) implied.push('invalid_api_key', 'insufficient_scope');
  if (spec.access !== 'public' && spec.access !== 'session-any-password') implied.push('password_change_required');
  const isForAdministrators = spec.access === 'admin' || spec.access === 'admin-for-user';
  if (isForAdministrators) implied.push('forbidden');
  if (spec.access === 'provider-editor') implied.push('provider_settings_disabled', 'forbidden');
  if (spec.access === 'mcp-editor') implied.push('mcp_settings_disabled');
  if (spec.method !== 'GET' && spec.access !== 'token') implied.push('origin_not_allowed');
  if (spec.method !== 'GET') implied.push('storage_full');
  if (spec.access !== 'public' && !isForAdministrators && isClosedByMaintenance(spec)) implied.push('maintenance');
  if (spec.body !== undefined || spec.form !== undefined) implied.push('unsupported_media_type', 'payload_too_large');
  if (spec.upload === true) implied.push('payload_too_large');
  if (spec.body !== undefined && maxBodyBytes(spec) > requestBodyBudgetBounds.freeBytes) implied.push('rate_limited');
  return [...new Set([...implied, ...(spec.errors ?? [])])];
}

/** Whether an access token is looked at, if only to be refused. */
function takesSession({ access }: EndpointSpec): boolean {
  return access !== 'public' && access !== 'workspace' && access !== 'token';
}

function failures(spec: EndpointSpec): Json {
  const byStatus = Map.groupBy(documentedErrors(spec), (code) => errorStatus[code]);
  return Object.fromEntries(
    [...byStatus].sort(([a], [b]) => a - b).map(([status, codes]) => [String(status), failure(codes)]),
  );
}

function failure(codes: readonly ErrorCode[]): Json {
  const schema = { $ref: '#/components/schemas/Error' };
  return { description: codes.join(', '), content: { 'application/json': { schema } } };
}

function parameters(schema: z.ZodObject | undefined, place: 'path' | 'query' | 'header'): Json[] {
  if (schema === undefined) return [];
  const { properties, required } = schemaOf(schema, 'input');
  const names = Array.isArray(required) ? required : [];
  if (typeof properties !== 'object' || properties === null) return [];
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || names.includes(name),
    schema: property,
  }));
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12', unrepresentable: 'any' });
  return rest;
}
