import {
  type AuthorizationServer,
  boundedFetch,
  metadataOf,
  type OAuthClient,
  type OAuthDeps,
  refusal,
  refusalOf,
} from './protocol.ts';

/** Longest sentence of an authorization server that is passed on, in characters. */
const wordsMax = 300;

/**
 * Registers this installation (RFC 7591). Throws `mcp_unreachable`, with the server's own reason if it refuses: a
 * registration contains no secret that it could quote.
 */
export async function registerHere(
  deps: OAuthDeps,
  server: AuthorizationServer,
  client: { name: string; origin: string; redirectUri: string },
): Promise<OAuthClient> {
  const library = await import('@modelcontextprotocol/client');
  const methods = server.authMethods ?? ['client_secret_basic'];
  const method = ['none', 'client_secret_basic', 'client_secret_post'].find((known) => methods.includes(known));
  const registered = await library
    .registerClient(server.issuer, {
      metadata: metadataOf(server),
      clientMetadata: {
        client_name: client.name,
        client_uri: client.origin,
        redirect_uris: [client.redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: method ?? 'none',
        application_type: 'web',
      },
      fetchFn: boundedFetch(deps),
    })
    .catch((error) => {
      const isRefused = error instanceof library.RegistrationRejectedError;
      const isAbsent = server.isAssumed === true && isRefused && reasonIn(error.body) === '';
      if (isAbsent) throw refusal('no_sign_in', 'it does not say where to sign in');
      const words = isRefused ? refusalWords(error.status, error.body) : undefined;
      const text = 'it did not register this installation';
      throw words === undefined ? refusalOf(error, text) : refusal('registration', `${text}: ${words}`);
    });
  const { client_id: clientId, client_secret: clientSecret } = registered;
  if (clientId === '' || clientId.length > clientIdMax) throw refusal('registration', 'its registration is unusable');
  return { clientId, ...(clientSecret === undefined ? {} : { clientSecret }) };
}

const clientIdMax = 2048;

/**
 * Whether the authorization server refuses the address that it would show to the person's browser, as it does after it
 * has forgotten our client. A server that can't be asked is given the benefit of the doubt.
 */
export async function isForgotten(deps: OAuthDeps, authorizeUrl: string): Promise<boolean> {
  try {
    const fetchOnce = deps.egress.fetchWithin({ totalTimeoutMs: 5_000, maxResponseBytes: 1024 * 1024 });
    const response = await fetchOnce(authorizeUrl, { redirect: 'manual', headers: { accept: 'text/html' } });
    await response.body?.cancel();
    const { status } = response;
    return forgottenStatuses.includes(status);
  } catch {
    return false;
  }
}

const forgottenStatuses: readonly number[] = [400, 401, 404];

/** The reason of a refused registration, on one line. */
function refusalWords(status: number, body: string): string {
  const line = reasonIn(body);
  return line === '' ? `HTTP ${status}` : `“${line}” (HTTP ${status})`;
}

/** The server's own words in the body of a refusal; '' without any. */
function reasonIn(body: string): string {
  const said = errorMembers(body);
  const words = [said.error_description, said.message, said.error].find(
    (text) => typeof text === 'string' && text !== '',
  );
  return typeof words === 'string' ? oneLine(words) : '';
}

function errorMembers(body: string): { error?: unknown; error_description?: unknown; message?: unknown } {
  try {
    const read: unknown = JSON.parse(body);
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}

function oneLine(text: string): string {
  return text
    .slice(0, 4 * wordsMax)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .replace(/\.$/, '')
    .slice(0, wordsMax);
}
