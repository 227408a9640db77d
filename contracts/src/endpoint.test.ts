import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type EndpointSpec, maxBodyBytes } from './endpoint.ts';
import { endpoints } from './endpoints.ts';
import { limits } from './limits.ts';

const [kib, mib] = [1024, 1024 * 1024];
/** Its lines end anywhere in a sentence. */
const page = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8').replaceAll(/\s+/g, ' ');
const bodied = Object.values<EndpointSpec>(endpoints).filter(({ body }) => body !== undefined);

function placesOf(bytes: number): string[] {
  return bodied
    .filter((spec) => maxBodyBytes(spec) === bytes)
    .map(({ method, path }) => `${method} ${path}`)
    .sort();
}

test('limits bodies to 256 KiB, to 16 KiB without a session, and to more for a few endpoints', () => {
  const largest = new Map([
    [
      16 * kib,
      [
        'POST /api/auth/sign-in/email',
        'POST /api/auth/sign-in/social',
        'POST /api/setup',
        'POST /api/shares/open',
        'PUT /api/invitations',
      ],
    ],
    [10 * mib, ['POST /api/chat/start', 'POST /api/chat/turn-inputs']],
    [
      2 * mib,
      ['/api/admin/mcp', '/api/admin/mcp/offers', '/api/admin/providers', '/api/mcp', '/api/providers']
        .flatMap((path) => [`PATCH ${path}`, `POST ${path}`])
        .concat('POST /api/admin/providers/test', 'POST /api/providers/test')
        .sort(),
    ],
    [4 * mib, ['POST /api/admin/config', 'POST /api/internal/v1/chat/completions']],
    [5 * mib, ['PUT /api/admin/model-registry']],
    [
      32 * mib,
      ['chat/completions', 'embeddings', 'messages', 'messages/count_tokens', 'responses'].map(
        (path) => `POST /v1/${path}`,
      ),
    ],
    [64 * mib, ['POST /api/admin/provision']],
  ]);
  for (const [bytes, places] of largest) assert.deepEqual(placesOf(bytes), places, `${bytes} bytes`);
  const exceptions = [...largest.values()].flat().length;
  assert.equal(placesOf(256 * kib).length, bodied.length - exceptions, 'all others take 256 KiB');
  const unsigned = bodied.filter(({ access }) => access === 'public');
  assert.equal(unsigned.length, placesOf(16 * kib).length, 'exactly what needs no session takes 16 KiB');
});

test('lists the limits of bodies and texts on the API reference page', () => {
  assert.equal(limits.messageTextMax, 1_000_000);
  const said = [
    'A body larger than its endpoint accepts is 413 `payload_too_large`: 16 KiB for public endpoints, 10 MiB for messages, ' +
      '2 MiB for providers and MCP servers, 4 MiB for branding and for model calls of programs, 5 MiB for a model registry, ' +
      '32 MiB for [the gateway](gateway.md), 64 MiB for a manifest, 256 KiB for everything else.',
    'A text part of a message has at most 1,000,000 characters; a longer one is 413 as well',
  ];
  for (const sentence of said) assert.ok(page.includes(sentence), sentence);
});
