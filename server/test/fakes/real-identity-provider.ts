import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import { exportJWK, generateKeyPair } from 'jose';

/** A certified identity provider (npm `oidc-provider`) on loopback, with its own pages for signing in and consent. */
export type RealIdentityProvider = {
  issuer: string;
  client: { clientId: string; clientSecret: string };
  close(): void;
};

/** The ways in which a well-known provider differs from a plain one. */
export type Habit = {
  /** The path of the issuer; tokens name it, final slash included. */
  path?: string;
  /** Members of the discovery document, in terms of the issuer, and another path to read it at. */
  document?: (issuer: string) => Record<string, unknown>;
  documentPath?: string;
  claims?: (login: string) => Record<string, unknown>;
  /** Claims are in the ID token, or only at userinfo. */
  claimsIn?: 'token' | 'userinfo';
  client?: Record<string, unknown>;
  signingKey?: 'RS256' | 'ES256' | 'EdDSA';
  signsUserinfo?: boolean;
};

const client = { clientId: 'homeport', clientSecret: 'real:secret/with+signs%' };

/**
 * The typed name chooses the account: `grace` is grace@corp.example, an address is itself, and `unverified-…` has an
 * unverified address. Any password is accepted.
 */
function accountOf(login: string): Record<string, unknown> {
  const email = login.includes('@') ? login : `${login}@corp.example`;
  return { sub: login, name: login, email, email_verified: !login.startsWith('unverified-') };
}

export async function startRealIdentityProvider(
  redirectUris: string[],
  habit: Habit = {},
): Promise<RealIdentityProvider> {
  const { default: Provider } = await import('oidc-provider');
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The identity provider has no port');
  const issuer = `http://127.0.0.1:${address.port}${habit.path ?? ''}`;
  const claimsOf = habit.claims ?? accountOf;
  const algorithm = habit.signingKey ?? 'RS256';
  const origin = (uri: string) => new URL(uri).origin;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: redirectUris,
        post_logout_redirect_uris: redirectUris.map((uri) => `${origin(uri)}/sign-in`),
        response_types: ['code'],
        id_token_signed_response_alg: algorithm,
        ...(habit.signsUserinfo === true ? { userinfo_signed_response_alg: algorithm } : {}),
        ...habit.client,
      },
    ],
    claims: { openid: ['sub', 'tid'], email: ['email', 'email_verified'], profile: profileClaims },
    conformIdTokenClaims: habit.claimsIn !== 'token',
    features: { jwtUserinfo: { enabled: true } },
    enabledJWA: { idTokenSigningAlgValues: [algorithm], userinfoSigningAlgValues: [algorithm] },
    jwks: { keys: [await signingKey(algorithm)] },
    pkce: { required: () => true },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ ...claimsOf(sub), sub }),
    }),
    cookies: { keys: ['only for tests'] },
  });
  const answer = provider.callback();
  const prefix = new URL(issuer).pathname.replace(/\/$/, '');
  const documents = [`${prefix}/.well-known/openid-configuration`, habit.documentPath];
  server.on('request', (request, response) => {
    const path = request.url ?? '/';
    if (habit.document !== undefined && documents.includes(path)) {
      return void sendDocument(answer, request, response, { prefix, members: habit.document(issuer) });
    }
    mount(request, prefix);
    answer(request, response);
  });
  return {
    issuer,
    client,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const profileClaims = ['name', 'given_name', 'family_name', 'preferred_username', 'nickname'];

async function signingKey(algorithm: string) {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return { ...(await exportJWK(privateKey)), use: 'sig', alg: algorithm, kid: 'key-1' };
}

/** Below a path the package expects the address without it, and the original one beside it. */
function mount(request: IncomingMessage, prefix: string): void {
  const url = request.url ?? '/';
  Object.assign(request, { originalUrl: url });
  if (prefix !== '' && url.startsWith(prefix)) request.url = url.slice(prefix.length) || '/';
}

/** The document of the package with some members replaced. */
function sendDocument(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  request: IncomingMessage,
  response: ServerResponse,
  { prefix, members }: { prefix: string; members: Record<string, unknown> },
): void {
  const { end } = response;
  const own = end.bind(response);
  response.end = ((body?: unknown) => {
    const text = JSON.stringify({ ...JSON.parse(String(body)), ...members });
    response.setHeader('content-length', Buffer.byteLength(text));
    return own(text);
  }) as typeof end;
  const path = '/.well-known/openid-configuration';
  Object.assign(request, { originalUrl: prefix + path, url: path });
  answer(request, response);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { redirect: { type: 'string', multiple: true, default: [] } } });
  // It warns of options for development only, as used here.
  console.info = console.warn = () => undefined;
  const provider = await startRealIdentityProvider([
    ...values.redirect,
    ...(process.env.REDIRECT_URI?.split(' ') ?? []),
  ]);
  process.stdout.write(`${provider.issuer}\n${JSON.stringify(provider.client)}\n`);
  process.on('SIGTERM', () => process.exit(0));
}
