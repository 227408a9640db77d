import fc from 'fast-check';
import { administrator, type Json } from '../product.ts';

/** Arbitrary JSON values from the schemas in the API's own description: valid ones, and almost valid ones. */

/** Placeholder for a real id of the kind that a field names; the sender inserts an own or a foreign one. */
const markedId = (name: string) => markedKind(kindOf(name));
const markedKind = (kind: string) => fc.nat(9_999).map((n) => `@id:${kind}:${n}@`);

/** Placeholder for an address; the sender inserts one that suits the endpoint. */
const markedEmail = fc.nat(9_999).map((n) => `@email:${n}@`);
const markedPath = markedKind('path');
const somePath = fc.constantFrom('folder', 'folder/deep', 'other/name.txt', 'name.txt', '../x');
const markedFile = markedKind('artifact').map((mark) => `artifact://${mark}`);

/** Kind of record that a field's id refers to; for plain `id`, the endpoint determines it. */
function kindOf(name: string): string {
  if (/^(chat|model|provider|project|user)Id$/.test(name)) return name.slice(0, -2);
  if (name === 'mcpServerIds') return 'server';
  if (name === 'offerId') return 'offer';
  if (/^(messageId|parentId|activeMessageId|before)$/.test(name)) return 'message';
  if (name === 'assistantId') return 'answer';
  return name === 'id' ? 'self' : 'any';
}

const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    ...['', ' ', '\u0000', 'a\u0000b', '\ud800', '\udfff\ud800', '\ufeff', '\u202e', '../../etc/passwd', '__proto__'],
    ...[
      'constructor',
      "' or 1=1 --",
      '%',
      '\\',
      '%00',
      '<script>alert(1)</script>',
      '{{7*7}}',

      'ﬀ',
      'İ',
      'null',
    ],
    ...[
      '\u{1f469}\u200d\u{1f680}',
      'a'.repeat(129),
      'é'.repeat(5_000),
      'http://169.254.169.254/',
      'javascript:alert(1)',
    ],
  ),
);

const oddNumber = fc.constantFrom(
  ...[0, -0, -1, 1.5, 2 ** 31, 2 ** 31 - 1, 2 ** 53, -(2 ** 63), 1e308, -1e308, 5e-324, Number.MAX_SAFE_INTEGER],
);

/** Anything at all. */
export const oddValue: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: oddText },
  { weight: 2, arbitrary: oddNumber },
  { weight: 1, arbitrary: markedId('any') },
  { weight: 2, arbitrary: fc.constantFrom<Json>(null, true, false, [], {}, [[]], [{}], { id: 1 }, [null]) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(5, 40, 63, 64, 65, 300).map(nested) },
);

function nested(depth: number): Json {
  let value: Json = 'deep';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** A value of the schema, with real ids where ids belong. */
export function jsonOf(schema: Json, name = ''): fc.Arbitrary<Json> {
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) return fc.oneof(...branches.map((branch: Json) => jsonOf(branch, name)));
  switch (schema.type) {
    case 'object':
      return objectOf(schema);
    case 'array':
      if (/^(tiers|modelTiers)$/.test(name)) return fc.oneof(fc.constant(allTiers), arrayOf(schema, name));
      return arrayOf(schema, name);
    case 'string':
      return textOf(schema, name);
    case 'integer':
    case 'number':
      if (name === 'tier' || name === 'value') return fc.integer({ min: 1, max: 5 });
      return fc.integer({ min: schema.minimum ?? 1, max: Math.min(schema.maximum ?? 100_000, 200_000) });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return oddValue;
  }
}

const allTiers = [1, 2, 3, 4, 5].map((value) => ({ value, label: `Tier ${value}` }));

function arrayOf(schema: Json, name: string): fc.Arbitrary<Json> {
  return fc.array(jsonOf(schema.items ?? {}, name), {
    minLength: schema.minItems ?? 0,
    maxLength: Math.min(schema.maxItems ?? 4, Math.max(4, schema.minItems ?? 0)),
  });
}

function objectOf(schema: Json): fc.Arbitrary<Json> {
  const members = Object.entries<Json>(schema.properties ?? {});
  if (members.length === 0) {
    return fc.dictionary(fc.stringMatching(/^x-[a-z]{1,8}$/), fc.stringMatching(/^[ -~]{0,20}$/), { maxKeys: 3 });
  }
  const record = Object.fromEntries(members.map(([name, member]) => [name, jsonOf(member, name)]));
  const required: string[] = [...(schema.required ?? [])];
  const whole = fc.record(record, { requiredKeys: required, noNullPrototype: true });
  const optional = Object.keys(record).filter((name) => !required.includes(name));
  const groups = alternatives.every((group) => optional.includes(group[0] ?? ''))
    ? alternatives.map((group) => group.filter((name) => optional.includes(name)))
    : [];
  const free = optional.filter((name) => !groups.flat().includes(name));
  // Otherwise members that exclude each other are rarely all absent.
  const lean = fc
    .tuple(
      fc.oneof(fc.subarray(free, { maxLength: Math.min(2, free.length) }), fc.constant([])),
      fc.tuple(...groups.map((group) => fc.constantFrom(...group))),
      fc.record(record),
    )
    .map(([extra, chosen, value]) =>
      Object.fromEntries(Object.entries(value).filter(([name]) => [...required, ...extra, ...chosen].includes(name))),
    );
  return fc.oneof({ weight: 1, arbitrary: whole }, { weight: 2, arbitrary: lean });
}

/** Exactly one of each pair is given: the namespace of an artifact, and its identifier. */
const alternatives = [
  ['chatId', 'projectId'],
  ['id', 'path', 'prefix', 'from'],
];

function textOf(schema: Json, name: string): fc.Arbitrary<string> {
  if (name === 'url' && schema.maxLength <= 2048) return fc.constantFrom('@mcp@', '@mcp@', 'http://127.0.0.1:9/mcp');
  if (name === 'url')
    return fc.oneof(markedFile, fc.constantFrom('data:text/plain,x', 'artifact://x', 'http://[::1]:9/'));
  if (/^(issuer|discoveryUrl)$/.test(name)) return fc.constantFrom('@provider@', 'http://127.0.0.1:9/', '');
  if (/^(path|from)$/.test(name)) return fc.oneof({ weight: 3, arbitrary: markedPath }, somePath);
  if (/^(to|prefix)$/.test(name)) return somePath;
  if (name === 'token') return markedKind('token');
  if (/^baseUrl$/.test(name)) return fc.constantFrom('@provider@', 'https://192.0.2.1/v1', 'http://[::1]:9/v1');
  if (/^providerModelId$/.test(name)) return fc.constantFrom(...modelIds);
  if (name === 'file') return fc.constantFrom('initializer.js', 'swagger-ui.css', 'package.json', '../package.json');
  if (name === 'password') return fc.constantFrom(administrator.password, 'wrong-horse-42');
  if (/Password$/.test(name)) return fc.constantFrom('wrong-horse-42', 'other-horse-43');
  if (/email$/i.test(name)) return markedEmail;
  if (/^apiKey$/.test(name)) return fc.constantFrom('sk-fuzz', 'sk-other');
  if (name === 'id' || /(?:Id|Ids|before)$/.test(name))
    return fc.oneof({ weight: 6, arbitrary: markedId(name) }, newId);
  // The domain pattern has a lookahead, which fast-check cannot invert.
  if (/\(\?<?[!=]/.test(schema.pattern ?? '')) return fc.constantFrom('example.org', 'a.example', '-a', '');
  if (schema.pattern !== undefined)
    return fc.stringMatching(new RegExp(schema.pattern)).map((text) => text.slice(0, 128));
  return fc.string({ minLength: schema.minLength ?? 0, maxLength: Math.min(schema.maxLength ?? 60, 60) });
}

const newId = fc.stringMatching(/^[A-Za-z0-9_-]{8,20}$/);
/** Understood by the scripted provider, which ends them soon. */
const modelIds = [
  'echo',
  'words-20',
  'reason',
  'think',
  'error-500',
  'error-429',
  'drop-3',
  'stream-error',
  'leak',
  'html',
  'cut',
];

/** The value with one to three places changed: replaced, removed, added to, or doubled. */
export function nearly(valid: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  const change = fc.record({ at: fc.nat(1_000), how: fc.nat(4), value: oddValue, name: oddText });
  return fc.tuple(valid, fc.array(change, { minLength: 1, maxLength: 3 })).map(([value, changes]) => {
    const root = { value: structuredClone(value) };
    for (const { at, how, value: other, name } of changes) changeOne(root, at, how, structuredClone(other), name);
    return root.value;
  });
}

function changeOne(root: Json, at: number, how: number, other: Json, name: string): void {
  const places: { holder: Json; key: string }[] = [];
  const visit = (holder: Json): void => {
    for (const key of Object.keys(holder)) {
      places.push({ holder, key });
      if (typeof holder[key] === 'object' && holder[key] !== null && places.length < 500) visit(holder[key]);
    }
  };
  visit(root);
  const place = places[at % places.length];
  if (place === undefined) return;
  const { holder, key } = place;
  const found = holder[key];
  if (how === 0 && holder !== root) delete holder[key];
  else if (how === 1 && Array.isArray(found)) found.push(...found, other);
  else if (how === 2 && typeof found === 'object' && found !== null && !Array.isArray(found))
    define(found, name, other);
  else if (how === 3 && typeof found === 'string') holder[key] = `${found}${typeof other === 'string' ? other : ''}`;
  else holder[key] = other;
}

/** Also `__proto__`, as a member of its own. */
function define(holder: object, name: string, value: Json): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}
