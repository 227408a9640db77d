import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** A valid token, which tests modify. */
export type TokenFacts = { claims: JWTPayload; keyId: string; privateKey: CryptoKey; publicKeyPem: string };
/** `type` is the content type of a text body. */
type JsonAnswer = { status: number; body: unknown; type?: string };

/** An identity provider that is correct until a test changes it. It never asks for a password. */
export type FakeIdentityProvider = {
  issuer: string;
  client: { clientId: string; clientSecret: string };
  /** Claims of the next tokens, in addition to those that the protocol requires. */
  person: Record<string, unknown>;
  /** Members of the discovery document that replace the correct ones. */
  document: Record<string, unknown>;
  /** Makes the id token in place of a signature by the published key. */
  sign: ((facts: TokenFacts) => Promise<string>) | undefined;
  /** Answers a path instead of the correct handler. */
  answers: Map<string, (form: URLSearchParams) => JsonAnswer>;
  /** Requested paths, in order. */
  seen: string[];
  /** Accepts a code any number of times. */
  forgetful: boolean;
  /** How this client has to send its secret, and the error for the other way. */
  authentication: 'basic' | 'post';
  refusal: string;
  /** Sends the browser back with these parameters in place of a code. */
  refuses: Record<string, string> | undefined;
  /** Headers of every response. */
  headers: Record<string, string>;
  /** Parameters of the last consent. */
  asked: URLSearchParams;
  /** The discovery document. */
  discovery(): Record<string, unknown>;
  /** A text signed with the published key. */
  signed(claims: JWTPayload): Promise<string>;
  /** Consents in place of the user: returns the callback address of ours that the browser goes to. */
  agree(authorizationUrl: string): string;
  /** Stops, and starts again at the same address. */
  stop(): Promise<void>;
  restart(): Promise<void>;
};

type Grant = { redirectUri: string; nonce: string; challenge: string; person: Record<string, unknown> };

export async function startIdentityProvider(): Promise<FakeIdentityProvider> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const keyId = randomUUID();
  const jwk = { ...(await exportJWK(publicKey)), kid: keyId, use: 'sig', alg: 'RS256' };
  const publicKeyPem = await exportSPKI(publicKey);
  const grants = new Map<string, Grant>();
  let server = createServer(respond);
  const port = await listen(0);
  const issuer = `http://127.0.0.1:${port}`;

  const provider: FakeIdentityProvider = {
    issuer,
    client: { clientId: 'homeport', clientSecret: 'the client secret: 1+1=2&%' },
    person: {},
    document: {},
    sign: undefined,
    answers: new Map(),
    seen: [],
    forgetful: false,
    authentication: 'basic',
    refusal: 'invalid_client',
    refuses: undefined,
    headers: {},
    asked: new URLSearchParams(),
    discovery: () => ({ ...discoveryDocument(issuer), ...provider.document }),
    signed: (claims) => signRight({ claims, keyId, privateKey, publicKeyPem }),
    agree(authorizationUrl) {
      const asked = new URL(authorizationUrl).searchParams;
      provider.asked = asked;
      const code = randomUUID();
      const redirectUri = asked.get('redirect_uri') ?? '';
      const nonce = asked.get('nonce') ?? '';
      const challenge = asked.get('code_challenge') ?? '';
      if (asked.get('code_challenge_method') !== 'S256' || nonce === '') throw new Error('No PKCE or no nonce');
      grants.set(code, { redirectUri, nonce, challenge, person: { ...provider.person } });
      const back = new URL(redirectUri);
      for (const [name, value] of Object.entries(provider.refuses ?? { code })) back.searchParams.set(name, value);
      back.searchParams.set('state', asked.get('state') ?? '');
      return back.href;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
    async restart() {
      server = createServer(respond);
      await listen(port);
    },
  };
  return provider;

  async function listen(at: number): Promise<number> {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('The identity provider has no port');
    return address.port;
  }

  function respond(request: IncomingMessage, response: ServerResponse): void {
    const path = new URL(request.url ?? '/', issuer).pathname;
    provider.seen.push(path);
    readForm(request)
      .then((form) => provider.answers.get(path)?.(form) ?? answer(path, form, request))
      .catch((error: unknown) => ({ status: 500, body: { error: String(error) } }))
      .then(({ status, body, type }: JsonAnswer) => {
        response.writeHead(status, { 'content-type': type ?? 'application/json', ...provider.headers });
        response.end(type === undefined ? JSON.stringify(body) : String(body));
      });
  }

  async function answer(path: string, form: URLSearchParams, request: IncomingMessage): Promise<JsonAnswer> {
    if (path === '/.well-known/openid-configuration') return { status: 200, body: provider.discovery() };
    if (path === '/jwks') return { status: 200, body: { keys: [jwk] } };
    if (path !== '/token') return { status: 404, body: {} };
    if (!isClient(request.headers.authorization, form)) return { status: 401, body: { error: provider.refusal } };
    const grant = grants.get(form.get('code') ?? '');
    if (!provider.forgetful) grants.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant === undefined || grant.redirectUri !== form.get('redirect_uri') || grant.challenge !== challenge) {
      return { status: 400, body: { error: 'invalid_grant' } };
    }
    const now = Math.floor(Date.now() / 1000);
    const protocol = { iss: issuer, aud: provider.client.clientId, iat: now, exp: now + 300, nonce: grant.nonce };
    const facts = { claims: { ...protocol, ...grant.person }, keyId, privateKey, publicKeyPem };
    const id_token = await (provider.sign ?? signRight)(facts);
    return { status: 200, body: { access_token: 'access', token_type: 'Bearer', id_token } };
  }

  function isClient(authorization: string | undefined, form: URLSearchParams): boolean {
    const { clientId, clientSecret } = provider.client;
    if (provider.authentication === 'post') {
      const isRight = form.get('client_id') === clientId && form.get('client_secret') === clientSecret;
      return isRight && authorization === undefined;
    }
    const [id, secret] = Buffer.from(authorization?.slice('Basic '.length) ?? '', 'base64')
      .toString()
      .split(':');
    const decode = (part = '') => new URLSearchParams(`p=${part}`).get('p');
    return decode(id) === clientId && decode(secret) === clientSecret;
  }
}

/** The correct id token. */
export function signRight({ claims, keyId, privateKey }: TokenFacts): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: keyId }).sign(privateKey);
}

function discoveryDocument(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'none', 'HS256'],
    code_challenge_methods_supported: ['S256'],
  };
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return new URLSearchParams(text);
}
