import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';

/** PEM texts; `ca` is the authority that a client has to trust. `caFile` contains it as well. */
export type Certificates = { ca: string; caFile: string; key: string; cert: string };

/** Makes a certificate authority and one certificate for all these names and addresses in `folder`, with openssl. */
export function makeCertificates(folder: string, hosts: string[]): Certificates {
  const path = (name: string) => join(folder, name);
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const names = hosts.map((host) => (isIP(host) === 0 ? `DNS:${host}` : `IP:${host}`));
  writeFileSync(path('leaf.ext'), `subjectAltName=${names.join(',')}\nbasicConstraints=CA:FALSE\n`);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=Test authority',
  );
  openssl('req', ...newKey, '-keyout', 'leaf.key', '-out', 'leaf.csr', '-subj', '/CN=Test server');
  openssl(
    ...['x509', '-req', '-in', 'leaf.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'],
    ...['-extfile', 'leaf.ext', '-out', 'leaf.pem'],
  );
  const read = (name: string) => readFileSync(path(name), 'utf8');
  return { ca: read('ca.pem'), caFile: path('ca.pem'), key: read('leaf.key'), cert: read('leaf.pem') };
}
