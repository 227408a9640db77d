import { once } from 'node:events';
import { createServer } from 'node:http';
import type { FakeMcp } from './mcp-server.ts';

/** A real authorization server (npm `oidc-provider`) on loopback, as those of MCP servers are. */
export type AuthorizationServer = {
  issuer: string;
  /** The value of an access token that it issued and still accepts. */
  accepts(token: string): Promise<{ scope: string; resource: string } | undefined>;
  /** Token requests by grant type, as received. */
  grants: string[];
  close(): void;
};

type Options = {
  registers?: boolean;
  /** Fetches client id metadata documents; undefined: it does not support them. */
  documents?: (url: string) => Promise<Response>;
  clients?: readonly object[];
  tokenSeconds?: number;
};

export async function startAuthorizationServer(options: Options = {}): Promise<AuthorizationServer> {
  const { default: Provider } = await import('oidc-provider');
  // It warns of options for development only, as used here.
  console.info = console.warn = () => undefined;
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The authorization server has no port');
  const issuer = `http://127.0.0.1:${address.port}`;
  const { documents } = options;
  const grants: string[] = [];
  const provider = new Provider(issuer, {
    clients: [...(options.clients ?? [])],
    scopes: ['openid', 'offline_access', 'read', 'write'],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    expiresWithSession: () => false,
    findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
    cookies: { keys: ['only for tests'] },
    ...(documents === undefined ? {} : { fetch: (url: string | URL) => documents(String(url)) }),
    features: {
      registration: { enabled: options.registers === true },
      revocation: { enabled: true },
      clientIdMetadataDocument: { enabled: documents !== undefined, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: 'read write',
          audience: resource,
          accessTokenTTL: options.tokenSeconds ?? 3600,
          accessTokenFormat: 'opaque',
        }),
      },
    },
  });
  const { AccessToken } = provider;
  provider.on('grant.success', ({ oidc }) => grants.push(oidc.params.grant_type));
  server.on('request', provider.callback());
  return {
    issuer,
    grants,
    async accepts(token) {
      const found = await AccessToken.find(token);
      return found === undefined ? undefined : { scope: found.scope ?? '', resource: String(found.aud) };
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * Protects an MCP server with it: without a token of this server for this resource, no access. Returns the tokens seen.
 */
export function protect(
  fake: FakeMcp,
  server: Pick<AuthorizationServer, 'issuer' | 'accepts'>,
  scope = 'read',
): string[] {
  const { origin } = new URL(fake.url);
  const tokens: string[] = [];
  const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
  fake.documents['/.well-known/oauth-protected-resource/mcp'] = {
    resource: fake.url,
    authorization_servers: [server.issuer],
    scopes_supported: ['read', 'write'],
  };
  fake.gate = async ({ authorization = '' }) => {
    const token = authorization.replace(/^Bearer /, '');
    if (token !== '') tokens.push(token);
    const found = token === '' ? undefined : await server.accepts(token);
    if (found?.resource === fake.url) return undefined;
    return {
      status: 401,
      headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}", scope="${scope}"` },
    };
  };
  return tokens;
}
