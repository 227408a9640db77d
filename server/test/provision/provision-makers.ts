import type { Answer, Caller, Json, TestApp } from '../app.ts';

/** Manifests for tests, and the requests that apply them. */

export const model = (providerModelId: string, fields: object = {}) => ({
  providerModelId,
  displayName: `The ${providerModelId}`,
  contextWindow: 8000,
  maxOutputTokens: 1000,
  tier: 2,
  ...fields,
});

export const text = (id: string, role: string, words: string) => ({ id, role, parts: [{ type: 'text', text: words }] });

export const password = 'correct horse battery 1';

/** Two users, one of them with a catalogue, a conversation and a branding: some of everything (community edition). */
export function sampleManifest(): Json {
  return {
    version: 1,
    branding: { productName: 'Harbour' },
    oidc: {
      providerKey: 'company',
      clientId: 'homeport',
      clientSecret: 'oidc-secret-1',
      allowedDomains: ['example.org'],
    },
    users: [
      {
        email: 'Ada@Example.org',
        name: 'Ada',
        role: 'admin',
        password,
        modelTiers: [
          { value: 9, label: 'Large' },
          { value: 1, label: 'Small' },
        ],
        providers: [
          {
            name: 'Local',
            baseUrl: 'http://127.0.0.1:1/v1',
            apiKey: 'sk-secret-1',
            headers: { 'x-team': 'blue' },
            models: [model('small', { tier: 1 }), model('large', { tier: 9, isDefault: true })],
          },
        ],
      },
      { email: 'bob@example.org', name: 'Bob', providerSettingsEnabled: false, mcpSettingsEnabled: false },
    ],
    conversations: [
      {
        id: 'imported-1',
        ownerEmail: 'bob@example.org',
        title: 'Harbours',
        createdAt: '2025-01-02T03:04:05+02:00',
        messages: [
          text('imported-1-a', 'user', 'What is a lighthouse?'),
          text('imported-1-b', 'assistant', 'A tower.'),
        ],
      },
    ],
  };
}

export function provision(caller: Caller, manifest: unknown, query: Record<string, string> = {}): Promise<Answer> {
  return caller.call('POST /api/admin/provision', manifest, { query: { changes: '1', ...query } });
}

/** A manifest as text of the given type. */
export async function provisionText(
  caller: Caller,
  body: string,
  type: string,
): Promise<{ status: number; body: Json }> {
  const response = await caller.fetch('/api/admin/provision?changes=1', {
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });
  return { status: response.status, body: await response.json() };
}

/** Signs in with a password; undefined when that is refused. */
export async function signIn(app: TestApp, email: string, given: string): Promise<string | undefined> {
  const answer = await app.anonymous.call('POST /api/auth/sign-in/email', { email, password: given });
  return answer.status === 200 ? (answer.headers.getSetCookie()[0]?.split(';')[0] ?? undefined) : undefined;
}

const notCompared = ['sessions', 'sign_in_failures', 'audit_events', 'kysely_migration', 'kysely_migration_lock'];

/** Changes with any row of the installation, except for sessions and logs. */
export async function digest(app: TestApp): Promise<string> {
  const { pool } = app.database.database;
  const { rows } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
     and not table_name = any($1) order by 1`,
    [notCompared],
  );
  // The service marks its store a moment after its start.
  const row = `(to_jsonb(t) - 'store_marked')::text`;
  const parts = rows.map(
    ({ name }) =>
      `select '${name}' as name, md5(coalesce(string_agg(${row}, '|' order by ${row}), '')) as md5 from ${name} t`,
  );
  const digests = await pool.query(parts.join(' union all '));
  return JSON.stringify(digests.rows);
}
