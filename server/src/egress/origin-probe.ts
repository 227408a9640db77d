import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { systemClock } from '../platform/clock.ts';

/** Requests that the operator's own address is asked, to see what a proxy before it does. Follows no redirects. */

const timeoutMs = 5_000;
const bodyMax = 64 * 1024;

export type ProbeAnswer = { status: number; text: string; headers: IncomingHttpHeaders };

export function probe(url: URL, headers: Record<string, string> = {}): Promise<ProbeAnswer> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const outgoing = send(url, { method: 'GET', agent: false, headers });
    const timer = systemClock.after(timeoutMs, () => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    outgoing.on('close', () => timer.stop());
    outgoing.on('error', reject);
    outgoing.on('upgrade', (incoming, socket) => {
      socket.destroy();
      resolve({ status: incoming.statusCode ?? 0, text: '', headers: incoming.headers });
    });
    outgoing.on('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > bodyMax) outgoing.destroy(new Error('a longer answer than expected'));
      });
      incoming.on('error', reject);
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text, headers: incoming.headers }));
    });
    outgoing.end();
  });
}

export type StreamAnswer = {
  status: number;
  /** The longest wait between two pieces of it, in milliseconds. */
  longestWaitMs: number;
};

/** Reads a stream to its end as a browser would ask for it, and tells how its pieces came. */
export function probeStream(url: URL): Promise<StreamAnswer> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const headers = { accept: 'text/event-stream', 'accept-encoding': 'gzip, br' };
    const outgoing = send(url, { method: 'GET', agent: false, headers });
    const timer = systemClock.after(2 * timeoutMs, () => outgoing.destroy(new Error('the stream does not end')));
    outgoing.on('close', () => timer.stop());
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      let bytes = 0;
      let last: number | undefined;
      let longestWaitMs = 0;
      incoming.on('data', (part: Buffer) => {
        const now = systemClock.elapsed();
        if (last !== undefined) longestWaitMs = Math.max(longestWaitMs, now - last);
        last = now;
        bytes += part.length;
        if (bytes > bodyMax) outgoing.destroy(new Error('a longer answer than expected'));
      });
      incoming.on('error', reject);
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, longestWaitMs }));
    });
    outgoing.end();
  });
}

/** A proxy that waits for the body has accepted its size. */
const verdictMs = 2_000;

/**
 * The status that answers the head of an upload of this size, whose body is never sent; undefined if the body is
 * waited for.
 */
export function probeUpload(url: URL, bytes: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const headers = { 'content-type': 'application/octet-stream', 'content-length': bytes, origin: url.origin };
    const outgoing = send(url, { method: 'POST', agent: false, headers });
    const timer = systemClock.after(verdictMs, () => {
      resolve(undefined);
      outgoing.destroy();
    });
    outgoing.on('close', () => timer.stop());
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      resolve(incoming.statusCode);
      outgoing.destroy();
    });
    outgoing.flushHeaders();
  });
}

/** Whether HTTP/2 is offered at an https address; throws if nothing answers there. */
export function offersHttp2(url: URL): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const port = url.port === '' ? 443 : Number(url.port);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = connectTls({ host, port, ...name, ALPNProtocols: ['h2', 'http/1.1'] });
    const timer = systemClock.after(timeoutMs, () => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    socket.once('close', () => timer.stop());
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(socket.alpnProtocol === 'h2');
      socket.destroy();
    });
  });
}
