import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseDestination } from '../../src/egress/destination.ts';
import { makeCertificates } from '../fakes/certificates.ts';
import { readSsrfVectors, settingNames } from '../fakes/ssrf-vectors.ts';
import { runInSandbox, whyNoSandbox } from '../sandbox.ts';
import type { Findings } from './egress-lab.ts';

const missing = whyNoSandbox();
if (missing !== undefined && process.env.REQUIRE_SANDBOX === '1') throw new Error(missing);

describe('tries every vector with real sockets', { skip: missing ?? false }, () => {
  let findings: Findings;

  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-egress-'));
    try {
      const hosts = readSsrfVectors().map((vector) =>
        parseDestination(vector.url)?.hostname.replace(/^\[|\]$|\.$/g, ''),
      );
      const certificates = makeCertificates(folder, [
        ...new Set([...hosts.filter((host) => host !== undefined), 'pub2.test']),
      ]);
      const proxy = 'http://93.184.216.34:3128';
      const env = {
        HTTP_PROXY: proxy,
        HTTPS_PROXY: proxy,
        http_proxy: proxy,
        https_proxy: proxy,
        NODE_USE_ENV_PROXY: '1',
      };
      const output = await runInSandbox(fileURLToPath(new URL('egress-lab.ts', import.meta.url)), {
        folder,
        args: [folder],
        env: { ...env, NODE_EXTRA_CA_CERTS: certificates.caFile },
        signal: AbortSignal.timeout(120_000),
      });
      findings = JSON.parse(output) as Findings;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('makes no forbidden connection, by request, fetch or the built-in fetch', () => {
    assert.equal(
      findings.checks,
      readSsrfVectors().filter((vector) => !vector.rebind).length * settingNames.length * 3,
    );
    assert.ok(findings.connections > 500, `only ${findings.connections} connections were seen at all`);
    assert.deepEqual(findings.forbidden, []);
  });

  test('refuses nothing permitted', () => assert.deepEqual(findings.overBlocked, []));

  test('every refusal has the code blocked_destination', () => assert.deepEqual(findings.wrongCode, []));

  test('ignores proxies from the environment', () => assert.equal(findings.proxied, 0));

  test('a name that changes its address never leads to a forbidden one', () => {
    assert.equal(Object.keys(findings.rebinding).length, 6);
    for (const [name, count] of Object.entries(findings.rebinding)) {
      assert.equal(count.forbidden, 0, name);
      assert.ok(
        count.reached > 0 && count.refused > 0 && count.reached + count.refused === count.tries,
        JSON.stringify(count),
      );
    }
  });
});
