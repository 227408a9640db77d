/** The answer of a proxy in front of the server, given in its place. */
export type ProxyFault = {
  /** Its name, if it tells. */
  name: string | undefined;
  /** The setting that limits the size of requests, for those that are known. */
  sizeSetting: string | undefined;
  /** Bytes of the request that was too large. */
  bytes: number | undefined;
};

export type ProxyFailureCode = 'proxy_sign_in' | 'proxy_too_large' | 'proxy_failed';

const proxies: [pattern: RegExp, name: string, sizeSetting: string | undefined][] = [
  [/openresty/i, 'OpenResty', 'client_max_body_size'],
  [/nginx/i, 'nginx', 'client_max_body_size'],
  [/apache/i, 'Apache', 'LimitRequestBody'],
  [/caddy/i, 'Caddy', 'request_body max_size'],
  [/traefik/i, 'Traefik', 'maxRequestBodyBytes'],
  [/haproxy/i, 'HAProxy', undefined],
  [/cloudflare/i, 'Cloudflare', undefined],
  [/microsoft-iis/i, 'IIS', 'maxAllowedContentLength'],
  [/envoy/i, 'Envoy', 'max_request_bytes'],
];
/** The pages of proxies name them near their beginning or at their end, and are short. */
const readOfPage = 4_000;

/** Names the proxy that sent an answer. */
export function readProxyFault(headers: Headers, body: string, bytes: number | undefined): ProxyFault {
  const server = headers.get('server') ?? '';
  const page = body.slice(0, readOfPage);
  const known =
    proxies.find(([pattern]) => pattern.test(server)) ?? proxies.find(([pattern]) => pattern.test(page)) ?? undefined;
  return { name: known?.[1], sizeSetting: known?.[2], bytes };
}

/**
 * The kind of a proxy's answer, by its status. 401 and 403 come from a sign-in service in front of the server, from a
 * challenge or from a policy: loading the page again shows which.
 */
export function proxyFailureCode(status: number): ProxyFailureCode {
  if ([401, 403, 407, 511].includes(status)) return 'proxy_sign_in';
  return status === 413 ? 'proxy_too_large' : 'proxy_failed';
}
