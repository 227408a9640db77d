import { limits } from '@homeport/contracts/limits';
import type { Config } from '../config/config.ts';
import { offersHttp2, type ProbeAnswer, probe, probeStream } from '../egress/origin-probe.ts';
import { checkTrust, checkUploads, explainSilence, explainStranger, help } from './doctor-proxy.ts';
import { type Cause, type Finding, finding } from './finding.ts';

/** Goes the way that browsers go, through whatever proxy there is. */

type Addresses = Pick<Config, 'baseUrl' | 'host' | 'port' | 'version' | 'trustedProxies' | 'artifactMaxUploadBytes'>;

export async function checkAddress(config: Addresses): Promise<Finding[]> {
  const isPublic = config.baseUrl !== undefined;
  const own = ownAddress(config);
  if (!isPublic && config.port === 0) {
    return [found('ok', 'address_unknown', 'PORT is 0, so the address is not known here.')];
  }
  const origin = config.baseUrl ?? own;
  let answer: ProbeAnswer;
  try {
    answer = await probe(new URL('/api/live', origin));
  } catch (error) {
    return [found(isPublic ? 'failed' : 'warning', ...(await explainSilence(origin, error, isPublic)))];
  }
  const version = versionOf(answer.text);
  if (answer.status !== 200 || version === undefined) {
    return [found('failed', ...(await explainStranger(origin, answer, config.port === 0 ? undefined : own)))];
  }
  const values = { version, origin, own: config.version };
  const findings = [
    version === config.version
      ? found('ok', ['address_works', values], `Homeport ${version} answers at ${origin}.`)
      : found(
          'warning',
          ['address_other_version', values],
          `Homeport ${version} answers at ${origin}; this is ${config.version}.`,
          'Restart it.',
        ),
  ];
  if (isPublic) {
    const ways = await Promise.all([
      checkWebSocket(origin),
      checkStream(origin),
      checkHttp2(origin),
      checkUploads(origin, config),
      checkTrust(origin, answer, config),
    ]);
    findings.push(...ways.flat());
  }
  return findings;
}

function ownAddress({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/** Without a session, a WebSocket is refused with 401; a proxy that drops the upgrade gets another answer. */
async function checkWebSocket(origin: string): Promise<Finding> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'aG9tZXBvcnQtZG9jdG9yIQ==',
    origin,
  };
  const status = await probe(new URL('/api/workspace/terminal', origin), headers).then(
    (answer) => answer.status,
    () => 0,
  );
  if (status === 401 || status === 101)
    return finding('websocket', 'ok', 'websocket_works', 'WebSockets pass through.');
  const message = `WebSockets do not pass through (status ${status}), so terminals do not work.`;
  return finding('websocket', 'failed', ['websocket_blocked', { status }], message, help);
}

const streamTries = 3;

/**
 * Whether a stream arrives as it is written. A busy machine may read two pieces at once, so it is held back only if
 * that happens every time.
 */
async function checkStream(origin: string): Promise<Finding> {
  const failed = (cause: Cause, message: string) => finding('streams', 'failed', cause, message, help);
  for (let tries = 0; tries < streamTries; tries += 1) {
    try {
      const { status, longestWaitMs } = await probeStream(new URL('/api/live/stream', origin));
      if (status !== 200) {
        const message = `Streams do not pass through (status ${status}), so answers can't be followed.`;
        return failed(['streams_blocked', { status }], message);
      }
      if (longestWaitMs > limits.liveStreamPieceMs / 2) {
        return finding('streams', 'ok', 'streams_work', 'Streams arrive piece by piece.');
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown reason';
      return failed(['streams_break', { reason }], `Streams break off on the way: ${reason}.`);
    }
  }
  return failed(
    'streams_held',
    'Something on the way holds streams back until they end, so answers appear all at once.',
  );
}

async function checkHttp2(origin: string): Promise<Finding[]> {
  if (!origin.startsWith('https:')) return [];
  const offered = await offersHttp2(new URL(origin)).catch(() => false);
  if (offered) return [finding('http2', 'ok', 'http2_works', 'HTTP/2 is offered.')];
  const message = 'HTTP/2 is not offered, so browsers load at most six things at a time.';
  return [finding('http2', 'warning', 'http2_missing', message, help)];
}

function versionOf(text: string): string | undefined {
  try {
    const content: unknown = JSON.parse(text);
    if (typeof content !== 'object' || content === null || !('version' in content)) return undefined;
    return typeof content.version === 'string' ? content.version : undefined;
  } catch {
    return undefined;
  }
}

function found(state: Finding['state'], cause: Cause, message: string, advice?: string): Finding {
  return finding('address', state, cause, message, advice);
}
