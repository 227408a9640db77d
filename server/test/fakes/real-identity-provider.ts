import { once } from 'node:events';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

/** A certified identity provider (npm `oidc-provider`) on loopback, with its own pages for signing in and consent. */
export type RealIdentityProvider = {
  issuer: string;
  client: { clientId: string; clientSecret: string };
  close(): void;
};

const client = { clientId: 'homeport', clientSecret: 'real:secret/with+signs%' };

/**
 * The typed name chooses the account: `grace` is grace@corp.example, an address is itself, and `unverified-…` has an
 * unverified address. Any password is accepted.
 */
function accountOf(login: string) {
  const email = login.includes('@') ? login : `${login}@corp.example`;
  return { sub: login, name: login, email, email_verified: !login.startsWith('unverified-') };
}

export async function startRealIdentityProvider(redirectUris: string[]): Promise<RealIdentityProvider> {
  const { default: Provider } = await import('oidc-provider');
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The identity provider has no port');
  const issuer = `http://127.0.0.1:${address.port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: redirectUris,
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    pkce: { required: () => true },
    findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: () => accountOf(sub) }),
    cookies: { keys: ['only for tests'] },
  });
  server.on('request', provider.callback());
  return {
    issuer,
    client,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
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
