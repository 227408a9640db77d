import fc from 'fast-check';
import type { Json } from '../product.ts';
import { formOf } from './forms.ts';
import { jsonOf, nearly, oddValue } from './values.ts';

/** Arbitrary requests for every operation in the API's own description, and for what it does not describe. */

export type FuzzRequest = {
  /** `METHOD /path/{template}` of the description; undefined for anything outside it. */
  operation: string | undefined;
  method: string;
  target: string;
  headers: [string, string][];
  body: Buffer | undefined;
  /** Index of the signed-in person who sends it; undefined without a session. */
  caller: number | undefined;
};

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** Requests with a weight for each operation of the document. */
export function requestsOf(description: Json, callers: number): fc.Arbitrary<FuzzRequest> {
  const operations: fc.Arbitrary<FuzzRequest>[] = [];
  const plain: fc.Arbitrary<FuzzRequest>[] = [];
  for (const [path, item] of Object.entries<Json>(description.paths)) {
    for (const method of methods.filter((name) => name in item)) {
      // With the right password, as the values have it, the people of the test would delete themselves.
      if (path === '/api/me' && method === 'delete') continue;
      operations.push(operationRequests(path, method, item[method], anything, callers));
      plain.push(operationRequests(path, method, item[method], valid, callers));
    }
  }
  return fc.oneof(
    { weight: 8, arbitrary: fc.oneof(...operations) },
    // Some endpoints require so much that random requests almost never get through.
    { weight: 2, arbitrary: fc.oneof(...plain) },
    { weight: 1, arbitrary: strayRequests(callers) },
    { weight: 1, arbitrary: answerRequests(callers) },
  );
}

/** How closely requests follow the description. */
type Manner = {
  parameters(parameters: Json[]): fc.Arbitrary<Json>;
  sent(content: Json): fc.Arbitrary<{ body: Buffer | undefined; type: string | undefined }>;
  headers: fc.Arbitrary<[string, string][]>;
};

function operationRequests(
  path: string,
  method: string,
  operation: Json,
  manner: Manner,
  callers: number,
): fc.Arbitrary<FuzzRequest> {
  const placed = (place: string) => operation.parameters.filter((parameter: Json) => parameter.in === place);
  const content = operation.requestBody?.content;
  return fc
    .record({
      params: manner.parameters(placed('path')),
      query: manner.parameters(placed('query')),
      sent: manner.sent(content),
      headers: /sign-in|invitations/.test(path) ? fromSomewhere : manner.headers,
      own: manner.parameters(placed('header')),
      caller: String(operation['x-access']).startsWith('admin') ? mostlyAdministrator(callers) : callerOf(callers),
    })
    .map(({ params, query, sent: { body, type }, headers: others, own, caller }) => {
      const headers = [...others, ...ownHeaders(own)];
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encode(params[name]) || 'x');
      const pairs = Object.entries<Json>(query).map(([name, value]) => `${encode(name)}=${encode(value)}`);
      return {
        operation: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        target: pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`,
        headers: body === undefined || type === undefined ? headers : [...headers, ['content-type', type]],
        body,
        caller,
      };
    });
}

/** Headers from the description, as far as a header can hold the generated values. */
function ownHeaders(values: Json): [string, string][] {
  return Object.entries<Json>(values).flatMap(([name, value]) => {
    const text = String(typeof value === 'string' ? value : JSON.stringify(value)).replace(
      /[^\t -~\u00a0-\u00ff]/g,
      '?',
    );
    return /^[\w-]+$/.test(name) ? [[name, text.slice(0, 1_000)]] : [];
  });
}

/** Requests for an answer: so many members exclude each other that random ones almost never get through. */
function answerRequests(callers: number): fc.Arbitrary<FuzzRequest> {
  const what = fc.constantFrom({ messageId: '@id:message:1@' }, { resume: true });
  const how = fc.record({ detach: fc.boolean(), regenerate: fc.boolean() }, { requiredKeys: [] });
  return fc.tuple(what, how, fc.nat(callers - 1)).map(([asked, options, caller]) => ({
    operation: 'POST /api/chat',
    method: 'POST',
    target: '/api/chat',
    caller,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(JSON.stringify({ chatId: '@id:chat:1@', ...asked, ...options })),
  }));
}

/** Unknown paths, methods and spellings. */
function strayRequests(callers: number): fc.Arbitrary<FuzzRequest> {
  const segment = fc.oneof(
    fc.constantFrom(
      'api',
      'chats',
      'auth',
      'me',
      'docs',
      '..',
      '.',
      '',
      '%2e%2e',
      '%2f',
      '%00',
      '%ff',
      'chat',
      ';x',
      '[',
      '//',
    ),
    fc.string({ maxLength: 12 }).map(encode),
  );
  return fc
    .record({
      method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE'),
      segments: fc.array(segment, { maxLength: 5 }),
      query: fc.string({ maxLength: 30 }).map((text) => text.replace(/[^!-~]/gu, '%')),
      headers: extraHeaders,
      caller: callerOf(callers),
    })
    .map(({ method, segments, query, headers, caller }) => ({
      operation: undefined,
      method,
      headers,
      caller,
      body: undefined,
      target: `/api/${segments.join('/')}?${query}`,
    }));
}

/** A body with its type, as the operation describes it. */
function sentOf(content: Json): fc.Arbitrary<{ body: Buffer | undefined; type: string | undefined }> {
  const form = content?.['multipart/form-data'];
  if (form !== undefined) return formOf(form.schema);
  if (content?.['application/octet-stream'] !== undefined) return uploadOf;
  const json = content?.['application/json'];
  return fc.record({ body: json === undefined ? fc.constant(undefined) : bodyOf(json.schema), type: contentType });
}

function validSent(content: Json): fc.Arbitrary<{ body: Buffer | undefined; type: string | undefined }> {
  const form = content?.['multipart/form-data'];
  if (form !== undefined) return formOf(form.schema);
  if (content?.['application/octet-stream'] !== undefined) return uploadOf;
  const json = content?.['application/json'];
  const type = 'application/json';
  if (json === undefined) return fc.constant({ body: undefined, type });
  return jsonOf(json.schema).map((value) => ({ body: Buffer.from(JSON.stringify(value)), type }));
}

/** A file as a body: any bytes of any type. */
const uploadOf: fc.Arbitrary<{ body: Buffer | undefined; type: string | undefined }> = fc.record({
  body: fc.option(
    fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
    { nil: undefined },
  ),
  type: fc.constantFrom(
    undefined,
    'application/octet-stream',
    'text/plain',
    'application/json',
    'x',
    'multipart/form-data',
  ),
});

/** The first of the people is the administrator. */
function mostlyAdministrator(callers: number): fc.Arbitrary<number | undefined> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: callerOf(callers) });
}

function callerOf(callers: number): fc.Arbitrary<number | undefined> {
  return fc.oneof({ weight: 9, arbitrary: fc.nat(callers - 1) }, { weight: 1, arbitrary: fc.constant(undefined) });
}

function parametersOf(parameters: Json[]): fc.Arbitrary<Json> {
  const valid = validParameters(parameters);
  return fc.oneof({ weight: 4, arbitrary: valid }, { weight: 1, arbitrary: nearly(valid) }).map((value) => value ?? {});
}

function validParameters(parameters: Json[]): fc.Arbitrary<Json> {
  const properties = Object.fromEntries(parameters.map(({ name, schema }: Json) => [name, schema]));
  const required = parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name);
  return parameters.length === 0 ? fc.constant({}) : jsonOf({ type: 'object', properties, required });
}

/** The body's bytes: mostly JSON that fits the schema, otherwise odd JSON or not JSON at all. */
function bodyOf(schema: Json): fc.Arbitrary<Buffer | undefined> {
  const valid = jsonOf(schema);
  const text = (value: Json) => Buffer.from(JSON.stringify(value) ?? '');
  return fc.oneof(
    { weight: 12, arbitrary: valid.map(text) },
    { weight: 9, arbitrary: nearly(valid).map(text) },
    { weight: 1, arbitrary: oddValue.map(text) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          valid.map((value) => JSON.stringify(value)),
          fc.nat(15),
        )
        .map(oddJson),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

function oddJson([json, choice]: [string, number]): Buffer {
  const inside = json.startsWith('{') ? json.slice(1) : `"a":${json}}`;
  const forms: (() => string | Buffer)[] = [
    () => `\ufeff${json}`,
    () => `{"__proto__":{"role":"admin"},${inside}`,
    () => `{"constructor":{"prototype":{"role":"admin"}},${inside}`,
    () => `{"id":"first","id":"second",${inside}`,
    () => `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)},${inside}`,
    () => `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`,
    () => `{"n":1${'0'.repeat(400)},${inside}`,
    () => `{"n":-1e400,"m":1e-400,"k":00,${inside}`,
    () => `{"s":"\\ud800",${inside}`,
    () => `{"s":"\\u0000",${inside}`,
    () => Buffer.concat([Buffer.from('{"s":"'), Buffer.from([0xff, 0xfe, 0xc0, 0x80]), Buffer.from(`",${inside}`)]),
    () => Buffer.from(json, 'utf16le'),
    () => json.slice(0, -1),
    () => `${json}${json}`,
    () => `{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":0`).join(',')},${inside}`,
    () => json.replaceAll('"', "'"),
  ];
  const form = forms[choice % forms.length];
  return Buffer.from(form === undefined ? json : form());
}

const contentType: fc.Arbitrary<string | undefined> = fc.oneof(
  { weight: 12, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...[undefined, 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''],
      ...['application/json; charset=utf-16', 'APPLICATION/JSON', 'application/json, text/plain', 'application/yaml'],
    ),
  },
);

const headerPairs: [string, string][] = [
  ...['x', 'a b', 'a'.repeat(65), '%0d%0a', '../', 'good-id.1'].map((value): [string, string] => [
    'x-request-id',
    value,
  ]),
  ...['1', '-1', '1e9', '999999999999999', '9999999999999999', 'x'].map((value): [string, string] => [
    'last-event-id',
    value,
  ]),
  ...['10.1.2.3', 'x, y', '::1', '::ffff:1.2.3.4', ','.repeat(500)].map((value): [string, string] => [
    'x-forwarded-for',
    value,
  ]),
  ...['gzip', 'br;q=0', '*', 'identity;q=0'].map((value): [string, string] => ['accept-encoding', value]),
  ...['null', 'https://elsewhere.example', 'http://', 'file://'].map((value): [string, string] => ['origin', value]),
  ...['bytes=0-1', 'bytes=-1,0-'].map((value): [string, string] => ['range', value]),
  ...['W/"x"', '*'].map((value): [string, string] => ['if-none-match', value]),
  ...['homeport.session_token=x', 'a=b;;=; =', 'homeport.session_token=%ff', '='.repeat(3_000)].map(
    (value): [string, string] => ['cookie', value],
  ),
  ...[
    ['x-setup-claim-token', 'x'],
    ['authorization', 'Bearer x'],
    ['authorization', `Bearer wst_${'A'.repeat(43)}`],
    ['expect', '100-continue'],
    ['te', 'trailers'],
  ].map(([name = '', value = '']): [string, string] => [name, value]),
  ...[
    ['user-agent', '\u00e9\u0080'],
    ['x-http-method-override', 'DELETE'],
    ['accept', 'text/html'],
    ['dnt', ''],
  ].map(([name = '', value = '']): [string, string] => [name, value]),
];

const extraHeaders: fc.Arbitrary<[string, string][]> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<[string, string][]>([]) },
  { weight: 1, arbitrary: fc.subarray(headerPairs, { maxLength: 3 }) },
);

/** Too many wrong guesses from one address are refused for a while. */
const fromSomewhere: fc.Arbitrary<[string, string][]> = fc.oneof(
  { weight: 1, arbitrary: extraHeaders },
  { weight: 2, arbitrary: fc.ipV4().map((address): [string, string][] => [['x-forwarded-for', address]]) },
);

const anything: Manner = { parameters: parametersOf, sent: sentOf, headers: extraHeaders };
const valid: Manner = { parameters: validParameters, sent: validSent, headers: fc.constant([]) };

/** Anything, as a piece of an address. */
function encode(value: Json): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return encodeURIComponent(text.toWellFormed());
}
