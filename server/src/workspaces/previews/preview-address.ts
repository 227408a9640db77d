import { createHmac, hkdfSync } from 'node:crypto';
import type { Config } from '../../config/config.ts';

/**
 * Addresses of previews: each port of each workspace has its own name below one domain, and with it its own origin.
 * Without a domain there are no previews (docs/decisions/0050-previews.md).
 */
export type PreviewDomain = {
  /** Suffix after a preview's own label in its host name, without port: `.preview.example.org`. */
  suffix: string;
  /** As the browser sees it; `*` stands for the label. Undefined: http, at the port of the request. */
  pattern: string | undefined;
};

const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]']);
const loopbackSuffix = '.localhost';
const labelPattern = /^([1-9]\d{0,4})-[a-z2-7]{26}$/;
const hostPattern = /^([a-z0-9.-]{1,253}|\[[\da-f:.]+\])(?::(\d{1,5}))?$/;

/** Browsers resolve every name below `localhost` to their own machine, and share no cookies between such names. */
export function previewDomain(config: Pick<Config, 'previewOrigin' | 'baseUrl'>): PreviewDomain | undefined {
  const { previewOrigin, baseUrl } = config;
  if (previewOrigin !== undefined) {
    return { suffix: new URL(previewOrigin.replace('*', 'x')).hostname.slice(1), pattern: previewOrigin };
  }
  if (baseUrl === undefined) return { suffix: loopbackSuffix, pattern: undefined };
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== 'http:' || !loopbackNames.has(hostname)) return undefined;
  return { suffix: loopbackSuffix, pattern: undefined };
}

/** The label of a request to a preview; empty for a name that was never issued; undefined for other requests. */
export function labelOfHost(domain: PreviewDomain | undefined, host: string | undefined): string | undefined {
  const [, name] = hostPattern.exec(host?.toLowerCase() ?? '') ?? [];
  if (domain === undefined || name === undefined || !name.endsWith(domain.suffix)) return undefined;
  const label = name.slice(0, -domain.suffix.length);
  if (labelPattern.test(label)) return label;
  // Below localhost, people give Homeport itself a name as well.
  return domain.pattern === undefined ? undefined : '';
}

/** The port that a label is for. */
export function portOfLabel(label: string): number {
  return Number(labelPattern.exec(label)?.[1]);
}

/**
 * The origin of a preview for a browser that reached Homeport with this Host header; undefined if there is none,
 * because the Host is not an address of the browser's own machine.
 */
export function previewOrigin(domain: PreviewDomain | undefined, label: string, host: string): string | undefined {
  if (domain === undefined) return undefined;
  if (domain.pattern !== undefined) return domain.pattern.replace('*', label);
  const [, name = '', port] = hostPattern.exec(host.toLowerCase()) ?? [];
  if (!loopbackNames.has(name) && !name.endsWith(loopbackSuffix)) return undefined;
  return new URL(`http://${label}${loopbackSuffix}${port === undefined ? '' : `:${port}`}`).origin;
}

/** Names of previews: stable for a port of a person, and not guessable. */
export function labelMaker({ authSecret }: Pick<Config, 'authSecret'>): (userId: string, port: number) => string {
  const key = Buffer.from(hkdfSync('sha256', authSecret, '', 'homeport preview label v1', 32));
  return (userId, port) => {
    const digest = createHmac('sha256', key).update(`${port} ${userId}`).digest();
    return `${port}-${Array.from(digest.subarray(0, 26), (byte) => letters[byte % 32]).join('')}`;
  };
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567';
