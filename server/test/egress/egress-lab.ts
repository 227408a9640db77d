// Runs inside a network namespace in which every public address leads to the canary. Started by egress-vectors.test.ts
// with the folder of the certificates as its argument; prints its findings as JSON.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { ApiError } from '@homeport/contracts/errors';
import { canonicalAddress } from '../../src/egress/addresses.ts';
import { parseDestination } from '../../src/egress/destination.ts';
import { createEgress, type Egress } from '../../src/egress/egress.ts';
import { startCanary } from '../fakes/canary.ts';
import { startDns, type Zone } from '../fakes/dns.ts';
import {
  mustBlock,
  readSsrfVectors,
  type Setting,
  type SsrfVector,
  settingNames,
  settings,
} from '../fakes/ssrf-vectors.ts';

type Way = 'request' | 'fetch' | 'global';
type Outcome = { ok: boolean; code: string };

/** The findings of the lab; each list is empty if the guard is right. */
export type Findings = {
  checks: number;
  connections: number;
  forbidden: string[];
  overBlocked: string[];
  wrongCode: string[];
  proxied: number;
  rebinding: Record<string, { tries: number; reached: number; refused: number; forbidden: number }>;
};

const publicHops = new Set(['93.184.216.34 443', '93.184.216.35 443']);
const proxyPort = 3128;

const folder = process.argv[2] ?? '.';
const vectors = readSsrfVectors();
const zone: Zone = new Map<string, string[] | string[][]>([
  ['pub2.test', ['93.184.216.35']],
  ['priv.test', ['10.0.0.5']],
]);
for (const vector of vectors) {
  const host = vector.dns_name ?? parseDestination(vector.url)?.hostname.replace(/\.$/, '');
  if (vector.dns !== undefined && host !== undefined && isIP(host) === 0) zone.set(host.toLowerCase(), vector.dns);
}
zone.set('pub.test', ['93.184.216.34']);
await startDns(zone);
const ports = [80, 443, 8080, 8443, 11434, 6379, 11211, proxyPort];
const tls = { key: readFileSync(join(folder, 'leaf.key')), cert: readFileSync(join(folder, 'leaf.pem')) };
const canary = await startCanary(ports, { key: String(tls.key), cert: String(tls.cert) });

const findings: Findings = {
  checks: 0,
  connections: 0,
  forbidden: [],
  overBlocked: [],
  wrongCode: [],
  proxied: 0,
  rebinding: {},
};
for (const setting of settingNames) {
  const egress = createEgress(settings[setting]);
  egress.installGlobally();
  for (const vector of vectors.filter((candidate) => !candidate.rebind)) {
    for (const way of ['request', 'fetch', 'global'] as const) await check(egress, vector, setting, way);
  }
  for (const way of ['request', 'fetch'] as const) {
    const name = `${setting} ${way}`;
    if (setting === 'none') await rebind(egress, `${name} loopback`, 'https://rebind.test/v1', way, '127.0.0.1');
    if (setting === 'none' || setting === 'both') {
      await rebind(egress, `${name} metadata`, 'https://rebind-meta.test/v1', way, '169.254.169.254');
    }
  }
  egress.close();
}
process.stdout.write(JSON.stringify(findings));
process.exit(0);

async function check(egress: Egress, vector: SsrfVector, setting: Setting, way: Way): Promise<void> {
  const outcome = await call(egress, vector.url, way);
  const seen = canary.take();
  const label = `${vector.id} ${setting} ${way} ${vector.url}: ${outcome.code}; ${seen.connections.join(', ')}`;
  findings.checks += 1;
  findings.connections += seen.connections.length;
  findings.proxied += seen.connections.filter((connection) => connection.endsWith(` ${proxyPort}`)).length;
  if (mustBlock(vector, setting)) {
    if (isForbidden(vector, seen.connections, seen.requests)) findings.forbidden.push(label);
    if (outcome.code !== 'blocked_destination') findings.wrongCode.push(label);
  } else {
    if (!outcome.ok) findings.overBlocked.push(label);
    if (!seen.connections.every((connection) => isExpected(vector, connection))) findings.forbidden.push(label);
  }
}

function isForbidden(vector: SsrfVector, connections: string[], requests: string[]): boolean {
  if (vector.layer !== 'redirect') return connections.length > 0;
  return (
    connections.some((connection) => !publicHops.has(connection)) ||
    (vector.redirect !== undefined && requests.length > 1)
  );
}

function isExpected(vector: SsrfVector, connection: string): boolean {
  if (vector.layer === 'redirect') {
    const target = parseDestination(vector.redirect?.location ?? 'https://127.0.0.1/', new URL('https://pub.test'));
    return publicHops.has(connection) || addressesOf(target).includes(connection.split(' ')[0] ?? '');
  }
  return addressesOf(parseDestination(vector.url)).includes(connection.split(' ')[0] ?? '');
}

function addressesOf(url: URL | undefined): string[] {
  const host = url?.hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase() ?? '';
  const known =
    host === 'localhost' || host.endsWith('.localhost') ? ['127.0.0.1', '::1'] : (zone.get(host)?.flat() ?? [host]);
  return known.map(canonicalAddress);
}

async function rebind(egress: Egress, name: string, url: string, way: Way, target: string): Promise<void> {
  const count = { tries: 200, reached: 0, refused: 0, forbidden: 0 };
  for (let attempt = 0; attempt < count.tries; attempt += 1) {
    const outcome = await call(egress, url, way);
    if (outcome.ok) count.reached += 1;
    else if (outcome.code === 'blocked_destination') count.refused += 1;
    count.forbidden += canary.take().connections.filter((connection) => connection.startsWith(`${target} `)).length;
  }
  findings.rebinding[name] = count;
}

async function call(egress: Egress, url: string, way: Way): Promise<Outcome> {
  const signal = AbortSignal.timeout(300_000);
  try {
    if (way === 'request') {
      const response = await egress.request(url, { signal });
      await response.body.text(1024);
      return { ok: response.status === 200, code: String(response.status) };
    }
    const response = await (way === 'fetch' ? egress.fetch : globalThis.fetch)(url, { signal });
    await response.text();
    return { ok: response.status === 200, code: String(response.status) };
  } catch (error) {
    return {
      ok: false,
      code: error instanceof ApiError ? `${error.code}${JSON.stringify(error.details) ?? ''}` : String(error),
    };
  }
}
