import net from 'node:net';
import tls from 'node:tls';
import { reasonOf, unreachable } from '../failures.ts';
import type { ProxyAddress } from './outbound-proxy.ts';

const headMax = 16 * 1024;

/**
 * A connection to one address and port through the proxy (RFC 9110, section 9.3.6). Rejects with
 * `provider_unreachable`, reason `refused` if the proxy answers with anything but success; nothing that it says is
 * passed on.
 */
export async function openTunnel(
  proxy: ProxyAddress,
  target: { address: string; port: number },
  secureContext: tls.SecureContext,
  signal: AbortSignal,
): Promise<net.Socket> {
  const socket = connectTo(proxy, secureContext);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = () => reject(unreachable('timeout', 'connect'));
  const onError = (error: unknown) => reject(unreachable(reasonOf(error), 'connect', error));
  const onClose = () => reject(unreachable('reset', 'connect'));
  let head = '';
  const onReadable = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    head += chunk.toString('latin1');
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) {
      if (head.length > headMax) reject(unreachable('protocol', 'connect'));
      return;
    }
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
    // A web server never sends anything before the client does.
    if (status === undefined || (status.startsWith('2') && head.length > end + 4)) {
      return reject(unreachable('protocol', 'connect'));
    }
    if (!status.startsWith('2')) return reject(unreachable('refused', 'connect'));
    resolve();
  };
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  socket.on('error', onError);
  socket.on('close', onClose);
  socket.on('readable', onReadable);
  socket.once(proxy.secure ? 'secureConnect' : 'connect', () => socket.write(connectRequest(proxy, target)));
  try {
    await promise;
    return socket;
  } catch (error) {
    socket.on('error', () => undefined);
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.off('error', onError);
    socket.off('close', onClose);
    socket.off('readable', onReadable);
  }
}

/** The operator chose the proxy, so any address is allowed. */
function connectTo({ secure, hostname, port }: ProxyAddress, secureContext: tls.SecureContext): net.Socket {
  const connection = { host: hostname, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
  if (!secure) return net.connect(connection);
  const servername = net.isIP(hostname) === 0 ? { servername: hostname } : {};
  return tls.connect({ ...connection, ...servername, secureContext, ALPNProtocols: ['http/1.1'] });
}

function connectRequest({ authorization }: ProxyAddress, { address, port }: { address: string; port: number }): string {
  const authority = `${net.isIPv6(address) ? `[${address}]` : address}:${port}`;
  const login = authorization === undefined ? '' : `proxy-authorization: ${authorization}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${login}\r\n`;
}
