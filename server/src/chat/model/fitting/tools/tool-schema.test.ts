import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SchemaForm } from './schema-keywords.ts';
import { fitSchema } from './tool-schema.ts';

const empty = { type: 'object', properties: {} };
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

const cases: { name: string; given: unknown; form?: SchemaForm; fitted: unknown }[] = [
  { name: 'an object without properties', given: { type: 'object' }, fitted: empty },
  { name: 'no type at all', given: {}, fitted: empty },
  { name: 'a type that can be null', given: { type: ['object', 'null'] }, fitted: empty },
  { name: 'properties that are null', given: { type: 'object', properties: null, required: null }, fitted: empty },
  { name: 'a list as arguments', given: { type: 'array', items: { type: 'string' } }, fitted: undefined },
  { name: 'no schema', given: 'string', fitted: undefined },
  {
    name: 'arrays without items, at any depth',
    given: object({ rows: { type: 'array' }, deep: { type: 'array', items: { type: ['array', 'null'] } } }),
    fitted: object({
      rows: { type: 'array', items: {} },
      deep: { type: 'array', items: { type: ['array', 'null'], items: {} } },
    }),
  },
  {
    name: 'nested objects without properties',
    given: object({ filter: { type: 'object', required: null, description: 7 } }),
    fitted: object({ filter: empty }),
  },
  {
    name: 'keywords with values of a wrong type',
    given: object({ n: { type: 'integer', minimum: '1', maxLength: -1, enum: [], title: null, multipleOf: 2 } }),
    fitted: object({ n: { type: 'integer', multipleOf: 2 } }),
  },
  {
    name: 'types of programming languages',
    given: object({ a: { type: 'int' }, b: { type: 'List' }, c: { type: 'any' }, d: { type: 'dict' }, e: true }),
    fitted: object({ a: { type: 'integer' }, b: { type: 'array', items: {} }, c: {}, d: empty, e: {} }),
  },
  {
    name: 'required names without a property',
    given: { type: 'object', required: ['id', 'id', 4] },
    fitted: object({ id: {} }, { required: ['id'] }),
  },
  {
    name: 'alternatives at the top',
    given: {
      type: 'object',
      description: 'Adds a file.',
      properties: { name: { type: 'string' } },
      required: ['name'],
      anyOf: [
        { properties: { content: { type: 'string' } }, required: ['content'] },
        { properties: { url: { type: 'string' } }, required: ['url'] },
      ],
    },
    fitted: object(
      { content: { type: 'string' }, url: { type: 'string' }, name: { type: 'string' } },
      {
        description: 'Adds a file.\nGive the properties of one of these alternatives: (content) or (url).',
        required: ['name'],
      },
    ),
  },
  {
    name: 'alternatives at the top that share a property',
    given: {
      oneOf: [
        object({ kind: { const: 'a' }, at: { type: 'number' } }, { required: ['kind', 'at'] }),
        object({ kind: { const: 'b' } }, { required: ['kind'] }),
      ],
    },
    fitted: object(
      {
        kind: {
          anyOf: [
            { type: 'string', enum: ['a'] },
            { type: 'string', enum: ['b'] },
          ],
        },
        at: { type: 'number' },
      },
      {
        required: ['kind'],
        description: 'Give the properties of one of these alternatives: (kind, at) or (kind).',
      },
    ),
  },
  {
    name: 'everything of allOf, with references',
    given: {
      allOf: [{ $ref: '#/definitions/Base' }, object({ b: { type: 'boolean' } }, { required: ['b'] })],
      definitions: { Base: object({ a: { type: 'string' } }, { required: ['a'] }) },
    },
    fitted: object({ b: { type: 'boolean' }, a: { type: 'string' } }, { required: ['a', 'b'] }),
  },
  {
    name: 'references, with the words beside them',
    given: {
      ...object({ at: { $ref: '#/$defs/a~1b%20c', description: 'Where' }, gone: { $ref: '#/$defs/none' } }),
      $defs: { 'a/b c': object({ x: { type: 'number' } }) },
      $schema: 'http://json-schema.org/draft-07/schema#',
    },
    fitted: object({ at: object({ x: { type: 'number' } }, { description: 'Where' }), gone: {} }),
  },
  {
    name: 'a reference to the whole, cut where it repeats',
    given: object({ children: { type: 'array', items: { $ref: '#' } } }),
    fitted: object({
      children: { type: 'array', items: object({ children: { type: 'array', items: empty } }) },
    }),
  },
  {
    name: 'references to other documents and inherited names',
    given: object({
      a: { $ref: 'https://example.com/s.json' },
      b: { $ref: '#/constructor' },
      c: { $ref: '#/__proto__' },
    }),
    fitted: object({ a: {}, b: {}, c: {} }),
  },
  {
    name: 'an object that could be a list',
    given: object({ a: { type: ['array', 'object'], properties: { x: { type: 'string' } } } }),
    fitted: object({ a: object({ x: { type: 'string' } }) }),
  },
  {
    name: 'keywords that few servers know',
    given: object(
      { a: { type: 'string', contentEncoding: 'base64', 'x-order': 1, pattern: '(?=a)', $comment: 'x' } },
      { patternProperties: { '^x': {} }, not: {}, if: {}, dependentRequired: {}, additionalProperties: false },
    ),
    fitted: object({ a: { type: 'string' } }, { additionalProperties: false }),
  },
  {
    name: 'constants, tuples and values that can be null',
    given: object({
      a: { const: 3 },
      b: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
      c: { type: 'string', nullable: true },
      d: { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'D', default: null },
    }),
    fitted: object({
      a: { type: 'number', enum: [3] },
      b: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
      c: { type: ['string', 'null'] },
      d: { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'D', default: null },
    }),
  },
  {
    name: 'Anthropic: optional properties that it cannot name',
    form: 'anthropic',
    given: object({ 'filter[id]': { type: 'string' }, 城市: {}, ok: {} }, { required: ['ok'] }),
    fitted: object({ ok: {} }, { required: ['ok'] }),
  },
  {
    name: 'Anthropic: a required property that it cannot name',
    form: 'anthropic',
    given: object({ $filter: { type: 'string' } }, { required: ['$filter'] }),
    fitted: undefined,
  },
  {
    name: 'Kimi: a type in every schema, none beside alternatives',
    form: 'typed',
    given: object({
      a: {},
      b: { type: ['integer', 'null'], pattern: '^a$' },
      c: { type: 'string', anyOf: [{}, { enum: ['x'] }] },
    }),
    fitted: object({
      a: { type: 'string' },
      b: { type: 'integer' },
      c: { anyOf: [{ type: 'string' }, { type: 'string', enum: ['x'] }] },
    }),
  },
  {
    name: 'Gemini: its keywords and formats only',
    form: 'gemini',
    given: object({
      a: { type: 'string', format: 'uri', minLength: 2, pattern: '^a$' },
      t: { type: 'string', format: 'date-time' },
    }),
    fitted: object({ a: { type: 'string' }, t: { type: 'string', format: 'date-time' } }),
  },
  {
    name: 'the older form of Gemini: one type, words as values, nullable',
    form: 'plain',
    given: object({
      n: { type: ['integer', 'null'] },
      e: { enum: [1, 2] },
      a: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    }),
    fitted: object({
      n: { type: 'integer', nullable: true },
      e: { type: 'string', enum: ['1', '2'] },
      a: { type: 'string', nullable: true },
    }),
  },
];

for (const { name, given, form = 'json', fitted } of cases) {
  test(`fits the schema of a tool: ${name}`, () => {
    assert.deepEqual(
      JSON.parse(JSON.stringify({ fitted: fitSchema(given, form) })),
      JSON.parse(JSON.stringify({ fitted })),
    );
  });
}

test('a fitted schema is fitted already', () => {
  for (const { given, form = 'json' } of cases) {
    const once = fitSchema(given, form);
    if (once !== undefined) assert.deepEqual(fitSchema(once, form), once);
  }
});

test('keeps hostile schemas small', () => {
  const wide = object(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`p${at}`, { type: 'string' }])));
  const chain = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      object(
        { a: { $ref: `#/$defs/d${at + 1}` }, b: { $ref: `#/$defs/d${at + 1}` } },
        { allOf: [{ $ref: `#/$defs/d${at + 2}` }] },
      ),
    ]),
  );
  const nested = (keyword: string): object => JSON.parse(`${`{"${keyword}":[`.repeat(3_000)}{}${']}'.repeat(3_000)}`);
  const hostile: unknown[] = [
    wide,
    { ...object({ a: { $ref: '#/$defs/d0' } }), $defs: chain },
    { type: 'object', anyOf: Array.from({ length: 5_000 }, () => ({ $ref: '#' })) },
    object({ e: { enum: Array.from({ length: 100_000 }, (_, at) => `v${at}`) } }, { description: 'x'.repeat(1e6) }),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => [nested(keyword), object({ a: nested(keyword) })]),
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}'),
  ];
  for (const schema of hostile) {
    for (const form of ['json', 'anthropic', 'typed', 'gemini', 'plain'] as const) {
      const text = JSON.stringify(fitSchema(schema, form));
      assert.ok(text.length < 400_000, `${text.length}`);
    }
  }
});
