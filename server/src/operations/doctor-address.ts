import { limits } from '@homeport/contracts/limits';
import type { Config } from '../config.ts';
import { offersHttp2, type ProbeAnswer, probe, probeStream } from '../egress/origin-probe.ts';
import type { Finding } from './doctor.ts';

/** Goes the way that browsers go, through whatever proxy there is. */

const help = 'See docs/operations.md, "Behind a reverse proxy".';

export async function checkAddress(config: Pick<Config, 'baseUrl' | 'host' | 'port' | 'version'>): Promise<Finding[]> {
  const isPublic = config.baseUrl !== undefined;
  const host = config.host === '0.0.0.0' ? '127.0.0.1' : config.host === '::' ? '[::1]' : config.host;
  if (!isPublic && config.port === 0) return [finding('ok', 'PORT is 0, so the address is not known here.')];
  const origin = config.baseUrl ?? `http://${host}:${config.port}`;
  let answer: ProbeAnswer;
  try {
    answer = await probe(new URL('/api/live', origin));
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown reason';
    const advice = `If Homeport is running, check ${isPublic ? 'BASE_URL and the proxy' : 'HOST and PORT'}.`;
    return [finding(isPublic ? 'failed' : 'warning', `${origin} does not answer: ${reason}.`, advice)];
  }
  const version = versionOf(answer.text);
  if (answer.status !== 200 || version === undefined) {
    return [finding('failed', `Something other than Homeport answers at ${origin} (status ${answer.status}).`, help)];
  }
  const findings = [
    version === config.version
      ? finding('ok', `Homeport ${version} answers at ${origin}.`)
      : finding('warning', `Homeport ${version} answers at ${origin}; this is ${config.version}.`, 'Restart it.'),
  ];
  if (isPublic) {
    const ways = await Promise.all([checkWebSocket(origin), checkStream(origin), checkHttp2(origin)]);
    findings.push(...ways.flat());
  }
  return findings;
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
  if (status === 401 || status === 101) return finding('ok', 'WebSockets pass through.', undefined, 'websocket');
  const message = `WebSockets do not pass through (status ${status}), so terminals do not work.`;
  return finding('failed', message, help, 'websocket');
}

const streamTries = 3;

/**
 * Whether a stream arrives as it is written. A busy machine may read two pieces at once, so it is held back only if
 * that happens every time.
 */
async function checkStream(origin: string): Promise<Finding> {
  const failed = (message: string) => finding('failed', message, help, 'streams');
  for (let tries = 0; tries < streamTries; tries += 1) {
    try {
      const { status, longestWaitMs } = await probeStream(new URL('/api/live/stream', origin));
      if (status !== 200)
        return failed(`Streams do not pass through (status ${status}), so answers can't be followed.`);
      if (longestWaitMs > limits.liveStreamPieceMs / 2) {
        return finding('ok', 'Streams arrive piece by piece.', undefined, 'streams');
      }
    } catch (error) {
      return failed(`Streams break off on the way: ${error instanceof Error ? error.message : 'unknown reason'}.`);
    }
  }
  return failed('Something on the way holds streams back until they end, so answers appear all at once.');
}

async function checkHttp2(origin: string): Promise<Finding[]> {
  if (!origin.startsWith('https:')) return [];
  const offered = await offersHttp2(new URL(origin)).catch(() => false);
  if (offered) return [finding('ok', 'HTTP/2 is offered.', undefined, 'http2')];
  const message = 'HTTP/2 is not offered, so the seventh tab with a running answer waits.';
  return [finding('warning', message, help, 'http2')];
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

function finding(state: Finding['state'], message: string, advice?: string, check = 'address'): Finding {
  return { check, state, message, ...(advice === undefined || state === 'ok' ? {} : { advice }) };
}
