import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build as bundle } from 'esbuild';
import { hashInputs, stampFile } from './build-inputs.mjs';
import { buildDocs } from './docs/docs-site.mjs';
import { noticesOf } from './release/notices.mjs';

const root = dirname(import.meta.dirname);
const dist = join(root, 'dist');

// CommonJS packages inside an ES module bundle still call require for Node's own modules.
const requireBanner =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

// Compiling the bundle is half of the start: its code cache must be switched on before it is loaded.
const starter = (name) => `import { enableCompileCache, flushCompileCache } from 'node:module';
enableCompileCache(new URL('./.compile-cache', import.meta.url).pathname);
await import('./${name}.bundle.mjs');
setTimeout(flushCompileCache, 2_000).unref();
`;

/** Builds the product into dist; returns the built parts. */
export async function build() {
  const hash = hashInputs(root);
  await rm(join(root, stampFile), { force: true });
  const startedAt = performance.now();
  console.error('Homeport: building (a few seconds; only when something changed) ...');
  const bundled = await Promise.all([buildServer(), buildWorkspace(), buildWeb()]);
  await mkdir(dist, { recursive: true });
  const notices = noticesOf(bundled.flat());
  await writeFile(join(dist, 'THIRD-PARTY-NOTICES.txt'), notices);
  // Browsers get bundles of packages, too.
  await writeFile(join(dist, 'web/third-party-notices.txt'), notices);
  await writeFile(join(root, stampFile), hash);
  console.error(`Homeport: built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}

// dockerode can also build images and use ssh, with packages that look for their own files; Homeport needs neither.
const engineOnly = {
  name: 'engine-only',
  setup({ onLoad }) {
    const unused = /dockerode[\\/]lib[\\/](session|buildkit)\.js$|docker-modem[\\/]lib[\\/]ssh\.js$/;
    onLoad({ filter: unused }, () => ({ contents: 'module.exports = undefined;' }));
  },
};

// Importing node:http as an ES module reads all its exports, including WebSocket, which loads all of Node's fetch. A
// CommonJS module is read member by member.
const httpWithoutFetch = {
  name: 'http-without-fetch',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^(node:)?http$/ }, ({ kind, namespace }) =>
      // Modules imported on demand read members by name, which a CommonJS module in the bundle does not have.
      namespace === 'http' || kind === 'dynamic-import'
        ? { path: 'node:http', external: true }
        : { path: 'node:http', namespace: 'http' },
    );
    onLoad({ filter: /./, namespace: 'http' }, () => ({ contents: "module.exports = require('node:http');" }));
  },
};

/** Like all parts, resolves with the files that went into it. */
async function buildServer() {
  const out = join(dist, 'server');
  await rm(out, { recursive: true, force: true });
  const names = await existing(['main', 'admin'], (name) => join(root, 'server/src', `${name}.ts`));
  if (names.length === 0) return [];
  const { metafile } = await bundle({
    metafile: true,
    entryPoints: {
      ...Object.fromEntries(names.map((name) => [`${name}.bundle`, join(root, 'server/src', `${name}.ts`)])),
      // Program of the parsing processes; sandbox/launch.ts finds it beside the bundle.
      parser: join(root, 'server/src/parser.ts'),
    },
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Modules imported on demand, such as the S3 client, cost nothing unless used.
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    banner: { js: requireBanner },
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    // An optional native driver and another runtime, which pg tries to load and works without.
    external: ['pg-native', 'cloudflare:sockets'],
    plugins: [engineOnly, httpWithoutFetch],
    logLevel: 'warning',
  });
  await Promise.all(names.map((name) => writeFile(join(out, `${name}.mjs`), starter(name))));
  // Read on demand, beside the bundle.
  await copyFile(join(root, 'server/src/catalogue/registry/models.json'), join(out, 'models.json'));
  await copyMigrations(out);
  await copySwagger(out);
  await copyCharacterMaps(out);
  await copyPictureCodecs(out);
  return inputsOf(metafile);
}

const inputsOf = ({ inputs }) => Object.keys(inputs).map((file) => resolve(file));

// node-pty looks for its binary in a package of this platform; in a workspace it is beside the bundle.
const ptyBeside = {
  name: 'pty-beside',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^pty\.node$/ }, () => ({ path: './pty.node', external: true }));
    onLoad({ filter: /node-pty[\\/]requireBinary\.js$/ }, () => ({
      contents: "exports.requireBinary = () => require('pty.node');",
    }));
  },
};

// The daemon is one file, so the text of its supervisor is part of it.
const supervisor = join(root, 'workspace/src/daemon/exec/supervisor.pl');
const supervisorInside = {
  name: 'supervisor-inside',
  setup({ onLoad }) {
    onLoad({ filter: /exec[\\/]supervisor-script\.ts$/ }, async () => ({
      contents: `export const supervisorScript = ${JSON.stringify(await readFile(supervisor, 'utf8'))};`,
    }));
  },
};

/**
 * Builds the programs inside workspaces. CommonJS, one file each: as ES modules the daemon would need a third more
 * memory.
 */
async function buildWorkspace() {
  const out = join(dist, 'workspace');
  await rm(out, { recursive: true, force: true });
  const programs = await existing(['daemon', 'cli'], (name) => join(root, 'workspace/src', name, 'main.ts'));
  if (programs.length === 0) return [];
  const { metafile } = await bundle({
    metafile: true,
    entryPoints: Object.fromEntries(programs.map((name) => [name, join(root, 'workspace/src', name, 'main.ts')])),
    outdir: out,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    // Optional speed-ups that ws works without.
    external: ['bufferutil', 'utf-8-validate'],
    plugins: [ptyBeside, supervisorInside],
    logLevel: 'warning',
  });
  const pty = createRequire(join(root, 'workspace/package.json'));
  const binary = pty.resolve(`@lydell/node-pty-${process.platform}-${process.arch}/pty.node`);
  await copyFile(binary, join(out, 'pty.node'));
  return [...inputsOf(metafile), binary, supervisor];
}

async function copyMigrations(out) {
  await cp(join(root, 'server/src/db/migrations'), join(out, 'migrations'), { recursive: true });
}

/** The bundle finds it as a package, without any other installation. */
/** Character codes of Chinese, Japanese and Korean fonts, with their license; the PDF reader looks for them there. */
async function copyCharacterMaps(out) {
  const manifest = createRequire(join(root, 'server/package.json')).resolve('pdfjs-dist/package.json');
  await cp(join(dirname(manifest), 'cmaps'), join(out, 'cmaps'), { recursive: true });
}

/** The programs of the codecs that server/src/artifacts/pictures/codecs.ts loads. */
async function copyPictureCodecs(out) {
  const { resolve } = createRequire(join(root, 'server/package.json'));
  const files = {
    jpeg: ['dec/mozjpeg_dec.wasm', 'enc/mozjpeg_enc.wasm'],
    png: ['pkg/squoosh_png_bg.wasm'],
    webp: ['dec/webp_dec.wasm'],
    avif: ['dec/avif_dec.wasm'],
  };
  for (const [name, programs] of Object.entries(files)) {
    const source = join(dirname(resolve(`@jsquash/${name}/package.json`)), 'codec');
    for (const program of programs) await cp(join(source, program), join(out, 'codecs', name, program));
  }
}

async function copySwagger(out) {
  const source = dirname(createRequire(join(root, 'server/package.json')).resolve('swagger-ui-dist/package.json'));
  const target = join(out, 'node_modules/swagger-ui-dist');
  await mkdir(target, { recursive: true });
  const files = ['package.json', 'swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png', 'LICENSE'];
  await Promise.all(files.map((file) => copyFile(join(source, file), join(target, file))));
}

async function buildWeb() {
  const configFile = join(root, 'web/vite.config.ts');
  if ((await existing(['web/src/main.tsx'], (file) => join(root, file))).length === 0) return [];
  const vite = await import('vite');
  // web/bundle-size.mjs checks sizes.
  const quiet = { logLevel: 'warn', build: { chunkSizeWarningLimit: Number.POSITIVE_INFINITY } };
  const client = await vite.build({ configFile, ...quiet });
  // Built after the client, whose build empties the folder.
  const frames = await vite.build({ configFile: join(root, 'web/vite.frames.config.ts'), ...quiet });
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const docs = await buildDocs(root, join(dist, 'web/docs'), version);
  await precompress(join(dist, 'web'));
  const modules = [client, frames].flat().flatMap(({ output }) => output.flatMap(({ moduleIds = [] }) => moduleIds));
  return [...modules, ...docs];
}

const compressible = /\.(js|css|html|svg|json|webmanifest|txt|map|wasm)$/;
const worthwhileBytes = 1_024;

async function precompress(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && compressible.test(entry.name));
  await Promise.all(files.map((entry) => compressFile(join(entry.parentPath, entry.name))));
}

async function compressFile(file) {
  // The page itself is sent with a new nonce each time.
  if (file === join(dist, 'web/index.html')) return;
  const content = await readFile(file);
  if (content.length < worthwhileBytes) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  const [small, older] = await Promise.all([
    promisify(brotliCompress)(content, { params }),
    promisify(gzip)(content, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${file}.br`, small), writeFile(`${file}.gz`, older)]);
}

async function existing(items, pathOf) {
  const found = await Promise.all(
    items.map((item) =>
      readFile(pathOf(item)).then(
        () => item,
        () => undefined,
      ),
    ),
  );
  return found.filter((item) => item !== undefined);
}

if (process.argv[1] === import.meta.filename) {
  await build().catch((error) => {
    console.error(`Homeport: the build failed\n${error.message}`);
    process.exitCode = 1;
  });
}
