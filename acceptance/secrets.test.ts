import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { addUsers, DatabaseSession } from './database.ts';
import { freePort, type Json, scratchFolder, startProduct, startProvider } from './product.ts';
import { type Canary, canary, findLeaks, madeSecret, type Sighting } from './secrets/canary.ts';
import { commandLines } from './secrets/command-lines.ts';
import { leakingWays, startLeakingProvider } from './secrets/leaking-provider.ts';
import { Witness } from './secrets/witness.ts';

/**
 * Canaries for every secret, the log at its most talkative, providers that echo what they were sent: then all output
 * and all stored data of the product is searched.
 */

const inSessions = { place: /^table public\.sessions$/, because: 'the row is found by it' };
const inSetCookie = { place: /^header set-cookie of /, because: 'the cookie is how the browser gets it' };
const inSignIn = {
  place: /^body of (?:POST \/api\/auth\/sign-in\/email|GET \/api\/auth\/get-session) 200$/,
  because: 'these answers have always named the session, to those who hold its cookie anyway',
};
const toEditors = {
  place: /^body of (?:GET|POST|PATCH) \/api\/providers 20[01]$/,
  because: 'custom headers are returned decrypted to authorized editors, so that they stay editable',
};

const toMcpEditors = {
  place: /^body of GET \/api\/(?:admin\/)?mcp\?.*\bid=[^ ]+ 200$/,
  because: 'with an id the headers of an MCP server are returned to its editors',
};

const secrets = {
  authSecret: canary('AUTH_SECRET', (core) => `auth"${core}/+`),
  encryptionKey: canary('SETTINGS_ENCRYPTION_KEY', (core) => `key\\${core}%`),
  claim: canary('the claim token', (core) => `claim&${core}=`),
  wrongClaim: canary('a wrong claim token', (core) => `wrong${core}`),
  password: canary('the password', (core) => `pässword 1"${core}\\`),
  newPassword: canary('the new password', (core) => `new pässword 2"${core}`),
  wrongPassword: canary('a mistyped password', (core) => `mistyped 3 ${core}`),
  apiKey: canary('the API key', (core) => `sk-"${core}\\/+%`),
  otherKey: canary('the key of a provider test', (core) => `sk-'${core}<&`),
  header: canary('a custom header', (core) => `value "${core}" /+%`, [toEditors]),
  mcpHeader: canary('a header of an MCP server', (core) => `mcp "${core}" +%`, [toMcpEditors]),
  otherHeader: canary('a header of a provider test', (core) => `other ${core}`),
  clientSecret: canary('the OIDC client secret', (core) => `secret "${core}" +%`),
  otherSecret: canary('the secret of an OIDC test', (core) => `tried:${core}&`),
  urlPassword: canary('a password in a URL', (core) => `url${core}`),
} satisfies Record<string, Canary>;
const prompt = canary('what was said', (core) => `Please repeat: ${core}`);

test('keeps secrets out of responses, logs, files and command lines', { timeout: 600_000 }, async () => {
  const dataDir = scratchFolder();
  const provider = await startProvider();
  const leaking = await startLeakingProvider();
  const port = await freePort();
  const environment = {
    LOG_LEVEL: 'trace',
    AUTH_SECRET: secrets.authSecret.value,
    MODEL_TITLES: 'true',
    SETTINGS_ENCRYPTION_KEY: secrets.encryptionKey.value,
    SETUP_CLAIM_TOKEN: secrets.claim.value,
  };
  const product = await startProduct(dataDir, environment, port);
  const witness = new Witness(product.url);
  await accounts(witness);
  await mistakes(witness);
  await providers(witness, [provider.url, ...leakingWays.map((way) => leaking.url(way))]);
  await mcpServers(witness, [provider.url, ...leakingWays.map((way) => leaking.url(way))]);
  const reader = await sharedWithAnother(witness, dataDir);
  await singleSignOn(witness, leaking.issuer);
  await pages(witness);
  const seen = [...witness.sightings, ...reader.sightings];
  const cookies = [witness.cookie, ...seen.filter(isCookie).map(({ content }) => content.toString())];
  const database = await DatabaseSession.open(dataDir);
  const sightings = [
    ...seen,
    ...(await database.dump()).map(({ table, content }) => ({ place: `table ${table}`, content })),
    ...commandLines(product.child.pid ?? 0),
  ];
  const stored = [
    ...(await database.query('select password from credentials')),
    ...(await database.query('select api_key from providers union select headers from providers')),
    ...(await database.query('select oidc_client_secret from settings')),
    ...(await database.query('select headers from mcp_servers')),
  ];
  database.close();
  product.kill('SIGTERM');
  assert.equal(await product.exited, 0);
  const log = product.output();
  sightings.push({ place: 'the log', content: Buffer.from(log) });
  leaking.close();

  const canaries = [...Object.values(secrets), ...sessionSecrets(cookies)];
  assert.deepEqual(findLeaks(canaries, sightings), []);
  // A user of a shared provider is not its editor, so its key and headers may appear nowhere for them.
  const ofSharer = [secrets.apiKey, secrets.header].map((secret) => ({ ...secret, allowed: [] }));
  assert.deepEqual(findLeaks(ofSharer, reader.sightings), []);
  // Sealed and hashed values stay in the database, and messages of people stay out of the log.
  const values = stored.flat().filter((value) => value !== null);
  const sealed = values.map((value, index) =>
    madeSecret(`stored value ${index}`, value, [{ place: /^table /, because: '' }]),
  );
  assert.ok(sealed.length >= 3);
  assert.deepEqual(findLeaks(sealed, sightings), []);
  const outside = sightings.filter(({ place }) => /^(?:the log|command line)/.test(place));
  assert.deepEqual(findLeaks([prompt], outside), []);

  // The search finds a secret that is present.
  assert.ok(log.includes('"level":'), 'the log was talkative');
  assert.ok(findLeaks([{ ...secrets.header, allowed: [] }], sightings).length > 0);
  for (const secret of sessionSecrets(cookies)) {
    assert.ok(findLeaks([{ ...secret, allowed: [] }], sightings).length > 0);
  }
  console.log(
    `secrets: ${canaries.length + sealed.length + 1} secrets, ${sightings.length} places, ${log.length} bytes of log`,
  );
});

function isCookie({ place, content }: Sighting): boolean {
  return (
    place.startsWith('header set-cookie ') && content.includes('session_token=') && !content.includes('session_token=;')
  );
}

/** Token and signature of every session that was opened. */
function sessionSecrets(cookies: readonly string[]): Canary[] {
  const values = cookies.map((cookie) => decodeURIComponent(/session_token=([^;]+)/.exec(cookie)?.[1] ?? ''));
  return [...new Set(values)].flatMap((value, index) => {
    const [token = '', signature = ''] = value.split('.');
    return [
      madeSecret(`session token ${index}`, token, [inSetCookie, inSessions, inSignIn]),
      madeSecret(`signature ${index}`, signature, [inSetCookie]),
    ];
  });
}

async function accounts(witness: Witness): Promise<void> {
  const person = { name: 'Ada Admin', email: 'ada@example.org', password: secrets.password.value };
  const refused = await witness.call('POST', '/api/setup', { ...person, claimToken: secrets.wrongClaim.value });
  assert.equal(refused.status, 403);
  const tooShort = { ...person, password: secrets.password.value.slice(0, 8) };
  assert.equal((await witness.call('POST', '/api/setup', tooShort)).status, 400);
  const claim = { 'x-setup-claim-token': secrets.claim.value };
  assert.equal((await witness.signIn('POST', '/api/setup', person, claim)).status, 201);
  const signIn = (password: Canary) => ({ email: person.email, password: password.value });
  assert.equal((await witness.call('POST', '/api/auth/sign-in/email', signIn(secrets.wrongPassword))).status, 401);
  assert.equal((await witness.signIn('POST', '/api/auth/sign-in/email', signIn(secrets.password))).status, 200);
  const change = (current: Canary) => ({ currentPassword: current.value, newPassword: secrets.newPassword.value });
  const path = '/api/auth/change-password';
  assert.equal((await witness.call('POST', path, change(secrets.wrongPassword))).status, 401);
  assert.equal((await witness.signIn('POST', path, change(secrets.password))).status, 200);
  for (const known of ['/api/auth/get-session', '/api/me', '/api/me/sessions', '/api/setup', '/api/public-config']) {
    assert.equal((await witness.call('GET', known)).status, 200);
  }
}

/** Requests that are refused while they hold secrets: no refusal repeats them. */
async function mistakes(witness: Witness): Promise<void> {
  const [key, header, typed] = [secrets.apiKey.value, secrets.header.value, secrets.wrongPassword.value];
  const baseUrl = `https://user:${secrets.urlPassword.value}@api.example.org/v1`;
  const name = 'Provider';
  const bodies: [method: string, path: string, body: unknown][] = [
    ['POST', '/api/providers', { name, baseUrl, apiKey: key }],
    ['POST', '/api/providers', { name, baseUrl: 'https://api.example.org', apiKey: `${key} ${key}` }],
    ['POST', '/api/providers', { name, baseUrl: 'https://api.example.org', headers: { 'x-bad': `${header}\n` } }],
    ['POST', '/api/providers', { name, baseUrl: 'https://api.example.org', headers: [header] }],
    ['POST', '/api/providers', `{"name": "Provider", "apiKey": "${secrets.otherKey.value}", `],
    ['POST', '/api/providers/test', { baseUrl: 'nonsense', apiKey: key, headers: { 'x-a': header } }],
    ['POST', '/api/auth/sign-in/email', { email: typed, password: { is: typed } }],
    ['POST', '/api/auth/sign-in/email', `{"email": "a@b.c", "password": "${typed}`],
    ['PATCH', '/api/me', { name: 7, password: typed }],
    ['POST', `/api/auth/sign-in/email?password=${encodeURIComponent(typed)}`, {}],
    ['GET', `/api/chats?limit=${encodeURIComponent(typed)}&token=${encodeURIComponent(key)}`, undefined],
    ['GET', `/api/nothing/${encodeURIComponent(key)}`, undefined],
  ];
  for (const [method, path, body] of bodies) {
    const { status } = await witness.call(method, path, body);
    assert.ok(status >= 400 && status < 500, `${method} ${path} ${status}`);
  }
  // The note of an address contains the secrets this test put in it.
  for (const sighting of witness.sightings) sighting.place = sighting.place.replace(/[?%].*? (\d{3})$/, ' $1');
}

async function providers(witness: Witness, baseUrls: readonly string[]): Promise<void> {
  const headers = { 'x-team': secrets.header.value };
  for (const baseUrl of baseUrls) {
    const sent = { name: 'Provider', baseUrl, apiKey: secrets.apiKey.value, headers };
    const { body } = await witness.call('POST', '/api/providers', sent);
    const id: string = body.provider.id;
    await witness.call('PATCH', '/api/providers', { id, apiKey: secrets.apiKey.value });
    await witness.call('POST', '/api/providers/test', { id });
    const test = { baseUrl, apiKey: secrets.otherKey.value, headers: { 'x-other': secrets.otherHeader.value } };
    await witness.call('POST', '/api/providers/test', test);
    const modelIds =
      baseUrl === baseUrls[0] ? ['echo', 'leak', 'stream-error', 'error-401', 'error-500', 'html', 'drop-3'] : ['any'];
    for (const providerModelId of modelIds) await converse(witness, id, providerModelId);
  }
  await witness.call('GET', '/api/providers');
}

/** Shares everything with another user, who uses every model and reads all that a user can read. */
async function sharedWithAnother(witness: Witness, dataDir: string): Promise<Witness> {
  const email = 'reader@example.org';
  await addUsers(dataDir, [email]);
  const reader = new Witness(witness.url);
  const signIn = { email, password: secrets.newPassword.value };
  assert.equal((await reader.signIn('POST', '/api/auth/sign-in/email', signIn)).status, 200);
  const { providers: own } = (await witness.call('GET', '/api/providers')).body;
  for (const { id } of own) {
    const shared = await witness.call('PATCH', '/api/providers', { id, sharedWith: 'everyone' });
    assert.equal(shared.status, 200, shared.text);
  }
  const { providers: seen } = (await reader.call('GET', '/api/providers')).body;
  assert.equal(seen.length, own.length);
  for (const { id, models } of seen) {
    for (const model of models) await ask(reader, model.id);
    assert.equal((await reader.call('POST', '/api/providers/test', { id })).status, 404);
    assert.equal((await reader.call('PATCH', '/api/providers', { id, name: 'Mine' })).status, 404);
  }
  const { paths } = (await reader.call('GET', '/api/openapi.json')).body;
  for (const [path, methods] of Object.entries<Json>(paths)) {
    // Streams of events stay open.
    const isStream = JSON.stringify(methods.get?.responses ?? {}).includes('text/event-stream');
    if (methods.get !== undefined && !isStream) await reader.call('GET', path);
  }
  return reader;
}

/** Adds servers that do not speak MCP and echo their requests; their errors must not contain the echo. */
async function mcpServers(witness: Witness, urls: readonly string[]): Promise<void> {
  const headers = { 'x-mcp-key': secrets.mcpHeader.value };
  const user = (await witness.call('GET', '/api/me')).body.user.id;
  for (const transport of ['http', 'sse']) {
    for (const url of urls) {
      const made = await witness.call('POST', '/api/mcp', { name: 'Tools', url, transport, headers });
      assert.equal(made.status, 201);
      const { id } = made.body.server;
      if (transport === 'http') await witness.call('POST', '/api/mcp/test', { id });
      await witness.call('PATCH', '/api/mcp', { id, name: 'Other tools' });
      await witness.call('GET', `/api/mcp?id=${id}`);
      await witness.call('GET', `/api/admin/mcp?userId=${user}&id=${id}`);
    }
  }
  const bad = { name: 'Tools', url: 'https://api.example.org', headers: { 'x-bad': `${secrets.mcpHeader.value}\n` } };
  assert.equal((await witness.call('POST', '/api/mcp', bad)).status, 400);
  await witness.call('GET', '/api/mcp');
  await witness.call('GET', `/api/admin/mcp?userId=${user}`);
}

async function converse(witness: Witness, providerId: string, providerModelId: string): Promise<void> {
  const limits = { contextWindow: 8_000, maxOutputTokens: 1_000, tier: 1 };
  const model = await witness.call('POST', '/api/models', {
    providerId,
    providerModelId,
    displayName: 'Model',
    ...limits,
  });
  await ask(witness, model.body.model.id);
}

async function ask(witness: Witness, modelId: string): Promise<void> {
  const { chat }: Json = (await witness.call('POST', '/api/chats', {})).body;
  const message = { id: randomUUID(), parts: [{ type: 'text', text: prompt.value }] };
  const submission = { chatId: chat.id, message, modelId };
  assert.equal((await witness.call('POST', '/api/chat/start', submission)).status, 201);
  // The answer is an error or a stream; either is read to its end.
  await witness.call('POST', '/api/chat', { chatId: chat.id, messageId: message.id });
  await witness.call('GET', `/api/chats?id=${chat.id}`);
  await witness.call('GET', `/api/chats/export?id=${chat.id}&format=json`);
  await witness.call('GET', `/api/chat/${chat.id}/stream`);
}

/** Uses an identity provider that repeats the secret: shows it, tests it, and tries to sign in. */
async function singleSignOn(witness: Witness, issuer: string): Promise<void> {
  const oidc = {
    enabled: true,
    providerKey: 'acme',
    issuer,
    clientId: 'chat',
    clientSecret: secrets.clientSecret.value,
  };
  assert.equal((await witness.call('POST', '/api/admin/config', { oidc })).status, 200);
  assert.equal((await witness.call('POST', '/api/admin/config', { oidc: { ...oidc, issuer: 'x' } })).status, 400);
  assert.equal((await witness.call('GET', '/api/admin/config')).body.oidc.hasClientSecret, true);
  for (const tried of [{}, { clientSecret: secrets.otherSecret.value }]) {
    const { checks } = (await witness.call('POST', '/api/admin/oidc-test', { oidc: tried })).body;
    const results = checks.map((check: { ok: boolean }) => check.ok);
    assert.deepEqual(results, [true, true, true, false], 'the secret has been sent');
  }
  const begun = await witness.call('POST', '/api/auth/sign-in/social', { provider: 'acme' });
  const state = new URL(begun.body.url).searchParams.get('state');
  const cookie = `${witness.cookie}; ${begun.headers.getSetCookie()[0]?.split(';')[0]}`;
  const back = `/api/auth/oauth2/callback/acme?code=a&state=${state}`;
  const refused = await witness.call('GET', back, undefined, { cookie });
  assert.match(refused.headers.get('location') ?? '', /error=provider_error/);
  await witness.call('GET', '/api/admin/audit');
}

async function pages(witness: Witness): Promise<void> {
  for (const path of ['/', '/settings', '/sign-in', '/api/docs', '/api/openapi.json', '/nothing'])
    await witness.call('GET', path);
  await witness.call('POST', '/api/auth/sign-out');
}
