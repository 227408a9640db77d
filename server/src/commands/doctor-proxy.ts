import type { Config } from '../config/config.ts';
import { offersHttp2, type ProbeAnswer, probe, probeUpload } from '../egress/origin-probe.ts';
import { ignoredProxyHeader } from '../platform/client-address.ts';
import { type Cause, type Finding, finding } from './finding.ts';

/** Mistakes in the settings of a reverse proxy, each with what to do. */

export const help = 'See docs/operations.md, "Behind a reverse proxy".';

type Explanation = [cause: Cause, message: string, advice: string];

const mebibyte = 1024 ** 2;
/** OpenSSL's reasons when the other side does not speak TLS. */
const plainText = /wrong version number|packet length too long|unknown protocol|http request|EPROTO/i;
const untrustedCodes = /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_CERT_)/;

/** Why nothing answers at the address. */
export async function explainSilence(origin: string, error: unknown, isPublic: boolean): Promise<Explanation> {
  const reason = error instanceof Error && error.message !== '' ? error.message : codeOf(error);
  if (origin.startsWith('https:') && plainText.test(reason)) {
    const message = `BASE_URL is ${origin}, but plain http is spoken at its port.`;
    const advice = 'Let the proxy answer with TLS there, or correct scheme and port of BASE_URL.';
    return [['address_plain', { origin }], message, advice];
  }
  if (origin.startsWith('http:') && (await speaksTls(origin))) return needsHttps(origin);
  if (untrustedCodes.test(codeOf(error))) {
    const code = codeOf(error);
    const message = `The certificate at ${origin} is not trusted here (${code}).`;
    const advice = 'Let the proxy send the whole chain; for an authority of your own, set NODE_EXTRA_CA_CERTS.';
    return [['address_certificate', { origin, code }], message, advice];
  }
  const settings = isPublic ? 'BASE_URL and the proxy' : 'HOST and PORT';
  const cause: Cause = ['address_silent', { origin, reason, settings }];
  return [cause, `${origin} does not answer: ${reason}.`, `If Homeport is running, check ${settings}.`];
}

/** Why an answer is not Homeport's. */
export async function explainStranger(
  origin: string,
  answer: ProbeAnswer,
  own: string | undefined,
): Promise<Explanation> {
  const { status, headers } = answer;
  if (status >= 502 && status <= 504) {
    const message = `The proxy at ${origin} answers ${status}: it does not reach Homeport.`;
    const cause: Cause = ['address_bad_gateway', { origin, status }];
    if (own === undefined) return [cause, message, `Start Homeport, or correct its address in the proxy. ${help}`];
    const isAlive = await probe(new URL('/api/live', own)).then(
      () => true,
      () => false,
    );
    if (!isAlive) {
      const advice = `Nothing answers at ${own} either: start Homeport, or check HOST and PORT.`;
      return [['address_dead', { origin, status, own }], message, advice];
    }
    return [cause, message, `Homeport answers at ${own}: point the proxy there. ${help}`];
  }
  if (status >= 300 && status < 400 && headers.location !== undefined) {
    const to = headers.location.slice(0, 200);
    const advice = 'Set BASE_URL to the address that people open in the end, and let /api/ through without sign-in.';
    return [['address_redirects', { origin, to }], `${origin} redirects to ${to}.`, advice];
  }
  if (origin.startsWith('http:') && (await speaksTls(origin))) return needsHttps(origin);
  const message = `Something other than Homeport answers at ${origin} (status ${status}).`;
  return [['address_stranger', { origin, status }], message, help];
}

function needsHttps(origin: string): Explanation {
  const message = `BASE_URL is ${origin}, but TLS is spoken at its port.`;
  const wanted = origin.replace('http:', 'https:');
  return [['address_tls', { origin, wanted }], message, `Set BASE_URL to ${wanted}, or correct its port.`];
}

function speaksTls(origin: string): Promise<boolean> {
  const url = new URL(origin);
  const address = new URL(`https://${url.hostname}:${url.port === '' ? '80' : url.port}`);
  // A certificate that is not trusted is TLS as well.
  return offersHttp2(address).then(
    () => true,
    (error: unknown) => untrustedCodes.test(codeOf(error)),
  );
}

/** Whether the largest upload would pass; it is announced and not sent. */
export async function checkUploads(
  origin: string,
  { artifactMaxUploadBytes }: Pick<Config, 'artifactMaxUploadBytes'>,
): Promise<Finding> {
  const url = new URL('/api/imports', origin);
  const status = await probeUpload(url, artifactMaxUploadBytes).catch(() => undefined);
  const size = `${Math.ceil(artifactMaxUploadBytes / mebibyte)} MiB`;
  if (status !== 413)
    return finding(
      'uploads',
      'ok',
      ['uploads_pass', { bytes: artifactMaxUploadBytes }],
      `The proxy lets uploads of ${size} through.`,
    );
  const message = `The proxy refuses uploads of ${size} (status 413), which ARTIFACT_MAX_UPLOAD_BYTES allows.`;
  const advice = `Raise its limit (client_max_body_size in nginx, LimitRequestBody in Apache), or lower the setting. ${help}`;
  return finding('uploads', 'failed', ['uploads_refused', { bytes: artifactMaxUploadBytes }], message, advice);
}

/** Homeport itself speaks no TLS, so an https address has a proxy. */
export function checkTrust(
  origin: string,
  { headers }: ProbeAnswer,
  { trustedProxies }: Pick<Config, 'trustedProxies'>,
): Finding {
  const isIgnored = headers[ignoredProxyHeader] !== undefined;
  if (!isIgnored && (trustedProxies.length > 0 || origin.startsWith('http:'))) {
    return finding('proxy', 'ok', 'proxy_named', 'No proxy on the way is missing from TRUSTED_PROXIES.');
  }
  const message = 'TRUSTED_PROXIES does not name the proxy, so everybody shares one address and its sign-in limits.';
  const advice = `Set TRUSTED_PROXIES to the address of the proxy as Homeport sees it; the log names it. ${help}`;
  return finding('proxy', 'warning', 'proxy_unnamed', message, advice);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown reason';
}
