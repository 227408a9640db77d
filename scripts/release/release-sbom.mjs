// The components of a release as CycloneDX 1.5, from the lockfile: only shipped packages, without build tools. `npm
// sbom` cannot do that: without development packages it leaves out shared ones, with them it reports errors in theirs.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { platformPackages } from './release-packages.mjs';

const root = join(import.meta.dirname, '../..');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;

/** The document, the same for the same lockfile and build. */
export function sbomText({ version, seconds }) {
  const purl = `pkg:npm/homeport@${version}`;
  const component = {
    type: 'application',
    'bom-ref': purl,
    name: 'homeport',
    version,
    purl,
    ...licensed('Apache-2.0'),
  };
  const shipped = shippedPackages();
  const places = Object.keys(lock).filter((path) => shipped.has(idOf(path)));
  const byRef = new Map(places.map((path) => [purlOf(path), path]));
  const unknown = [...shipped].filter((id) => !places.some((path) => idOf(path) === id));
  if (unknown.length > 0) throw new Error(`the lockfile does not have ${unknown.join(', ')}`);
  const refs = [...byRef.keys()].sort();
  const components = [...refs.map((ref) => componentOf(byRef.get(ref))), nodeComponent()];
  const dependencies = [
    { ref: purl, dependsOn: components.map((each) => each['bom-ref']) },
    ...refs.map((ref) => ({ ref, dependsOn: dependenciesOf(byRef.get(ref)).filter((other) => byRef.has(other)) })),
  ];
  const body = {
    metadata: { timestamp: new Date(seconds * 1_000).toISOString(), component },
    components,
    dependencies,
  };
  const head = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
  };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(body))}`;
  return `${JSON.stringify({ ...head, serialNumber, version: 1, ...body }, null, 2)}\n`;
}

/** Shipped packages as `name@version`: those in the list of licenses, and those beside the bundle. */
function shippedPackages() {
  const notices = readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
  const bundled = [...notices.matchAll(/^-{80}\n(\S+) (\S+)$/gm)].map(([, name, version]) => `${name}@${version}`);
  const swagger = JSON.parse(readFileSync(join(root, 'dist/server/node_modules/swagger-ui-dist/package.json'), 'utf8'));
  const platform = Object.entries(platformPackages()).filter(([name]) => !name.startsWith('node-'));
  // Its tables of character codes are shipped.
  const codes = ['pdfjs-dist', lock['node_modules/pdfjs-dist'].version];
  const ids = [[swagger.name, swagger.version], codes, ...platform].map(([name, version]) => `${name}@${version}`);
  return new Set([...bundled, ...ids]);
}

const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const idOf = (path) => `${nameOf(path)}@${lock[path].version}`;
const purlOf = (path) => `pkg:npm/${idOf(path).replace(/^@/, '%40')}`;
const licensed = (license) => {
  if (license === undefined) return {};
  return { licenses: [/ (OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } }] };
};

function componentOf(path) {
  const { version, integrity, license } = lock[path];
  const [, digest] = /^sha512-(.*)$/.exec(integrity ?? '') ?? [];
  const hashes = digest && [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }];
  const named = { type: 'library', 'bom-ref': purlOf(path), name: nameOf(path), version, scope: 'required' };
  return { ...named, ...(hashes && { hashes }), ...licensed(license), purl: purlOf(path) };
}

/** Resolves like Node: in the folder of the package, then in the parent folders. */
function dependenciesOf(path) {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = lock[path];
  const parts = path.split('/');
  const around = parts.map((_, index) => parts.slice(0, parts.length - index).join('/'));
  const found = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).map((name) => {
    const candidates = [...around.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`];
    const place = candidates.find((candidate) => lock[candidate] !== undefined);
    return place === undefined ? undefined : purlOf(place);
  });
  return [...new Set(found.filter((ref) => ref !== undefined))].sort();
}

/** Node itself, which in the lockfile is a package that fetches it. */
function nodeComponent() {
  const { version } = lock['node_modules/node'];
  const purl = `pkg:github/nodejs/node@v${version}`;
  return { type: 'platform', 'bom-ref': purl, name: 'node', version, scope: 'required', ...licensed('MIT'), purl };
}

/** UUID derived from a digest. */
function uuidOf(text) {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
