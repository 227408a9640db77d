import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { endpoints } from '@homeport/contracts/endpoints';
import { errorStatus } from '@homeport/contracts/errors';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type Json, type Running, scratchFolder, startProduct } from './product.ts';

/** `/api/openapi.json` of the built product: valid OpenAPI 3.1 that matches the endpoint table. */

let product: Running;
let document: Json;
before(async () => {
  product = await startProduct(scratchFolder());
  document = await (await fetch(`${product.url}/api/openapi.json`)).json();
});
after(async () => {
  product.kill('SIGTERM');
  await product.exited;
});

const pathOf = (spec: EndpointSpec): string => spec.path.replace(/:(\w+)/g, '{$1}');
const table: EndpointSpec[] = Object.values(endpoints);

test('is valid OpenAPI 3.1', async () => {
  const result = await new Validator({ strict: false }).validate(structuredClone(document));
  assert.deepEqual(result, { valid: true });
  assert.match(document.openapi, /^3\.1\.\d$/);
  const broken = structuredClone(document);
  broken.paths['/api/health'].get.parameters = 'none';
  assert.equal((await new Validator({ strict: false }).validate(broken)).valid, false);
});

test('describes exactly the endpoints of the table', () => {
  const described = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual(described.sort(), table.map((spec) => `${spec.method} ${pathOf(spec)}`).sort());
  const ids = table.map((spec) => document.paths[pathOf(spec)][spec.method.toLowerCase()].operationId);
  assert.equal(new Set(ids).size, ids.length);
});

test('describes parameters, body, responses and errors of each operation', () => {
  for (const spec of table) {
    const operation = document.paths[pathOf(spec)][spec.method.toLowerCase()];
    const where = `${spec.method} ${spec.path}`;
    const inPath = operation.parameters.filter((parameter: Json) => parameter.in === 'path');
    const names = [...spec.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    assert.deepEqual(
      inPath.map((parameter: Json) => parameter.name),
      names,
      where,
    );
    assert.ok(
      inPath.every((parameter: Json) => parameter.required === true),
      where,
    );
    const types = bodyTypes(spec);
    assert.deepEqual(Object.keys(operation.requestBody?.content ?? {}), types, where);
    assert.equal(operation.security !== undefined, spec.access !== 'public', where);
    if (operation.security !== undefined) {
      const carrier = spec.access === 'workspace' || spec.access === 'token' ? spec.access : 'session';
      assert.deepEqual(Object.keys(operation.security[0]), [carrier], where);
    }
    const inHeader = operation.parameters.filter((parameter: Json) => parameter.in === 'header');
    assert.deepEqual(
      inHeader.map((parameter: Json) => [parameter.name, parameter.required]),
      Object.keys(spec.headers?.shape ?? {}).map((name) => [name, true]),
      where,
    );
    if (spec.fileTypes !== undefined) {
      const json = spec.response === 'file' ? [] : ['application/json'];
      const answers = Object.keys(operation.responses[spec.status ?? 200].content);
      assert.deepEqual(answers, [...json, ...spec.fileTypes], where);
    }
    if (types.length > 0) assert.ok('413' in operation.responses, where);
    const statuses = [spec.status ?? 200, ...Object.keys(spec.others ?? {}).map(Number)];
    for (const status of statuses) assert.ok(String(status) in operation.responses, `${where} ${status}`);
    for (const code of [...(spec.errors ?? []), 'invalid_request', 'internal_error'] as const) {
      assert.ok(operation.responses[errorStatus[code]].description.includes(code), `${where} ${code}`);
    }
  }
});

function bodyTypes(spec: EndpointSpec): readonly string[] {
  if (spec.upload === true) return ['application/octet-stream'];
  if (spec.form !== undefined) return ['multipart/form-data'];
  return spec.body === undefined ? [] : (spec.bytes ?? ['application/json']);
}

test('marks only required bodies as required', () => {
  for (const spec of table.filter(({ body }) => body !== undefined)) {
    const { requestBody } = document.paths[pathOf(spec)][spec.method.toLowerCase()];
    const isOptional = spec.body?.safeParse(undefined).success;
    assert.equal(requestBody.required ?? false, !isOptional, `${spec.method} ${spec.path}`);
  }
});

test('resolves every reference', () => {
  for (const [, reference = ''] of JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)) {
    const names = reference.replace(/^#\//, '').split('/');
    assert.notEqual(
      names.reduce((place: Json, name) => place?.[name], document),
      undefined,
      reference,
    );
  }
});
