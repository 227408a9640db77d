import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, readFile } from 'node:fs/promises';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isClientPage } from '@homeport/contracts/client-pages';
import type { PageConfig } from '@homeport/contracts/system';
import { brandedManifest, brandedPage } from './branded-page.ts';
import { isDocsAddress, serveDocs } from './docs-site.ts';

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};
const encodings = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

/** Assets of the client's framed pages. */
const frameAssets = '/assets/frames/';

const manifestPath = '/manifest.webmanifest';

export type WebClient = {
  /** Answers a GET outside /api: a built file, or the page. */
  serve(pathname: string, acceptEncoding: string, outgoing: ServerResponse): Promise<void>;
  /** Answers the client's page with this status. */
  servePage(status: 200 | 404, outgoing: ServerResponse): Promise<void>;
};

/**
 * Serves the built browser client. `publicConfig` is put into the page, so that branding is there before the first
 * paint; the page's policy allows only its own script files and requires Trusted Types. `previewFrames`: the apps that
 * a page at this host may show.
 */
export async function createWebClient(
  folder: string,
  publicConfig: () => Promise<PageConfig>,
  previewFrames: (host: string) => string | undefined = () => undefined,
): Promise<WebClient> {
  const files = new Set(await listFiles(folder, '/').catch(() => []));
  const template = files.has('/index.html') ? await readFile(join(folder, 'index.html'), 'utf8') : undefined;
  const manifest = files.has(manifestPath) ? await readFile(join(folder, manifestPath), 'utf8') : undefined;

  async function servePage(status: 200 | 404, outgoing: ServerResponse): Promise<void> {
    if (template === undefined) {
      outgoing
        .writeHead(503, { 'content-type': 'text/plain; charset=utf-8' })
        .end('The browser client is not built.\n');
      return;
    }
    const nonce = randomBytes(16).toString('base64');
    const config = await publicConfig().catch(() => null);
    const json = JSON.stringify(config).replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028');
    const page = config === null ? template : brandedPage(template, config.branding);
    const html = page.replaceAll('__CSP_NONCE__', nonce).replace('"__PUBLIC_CONFIG__"', () => json);
    outgoing
      .writeHead(status, {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': pagePolicy(nonce, previewFrames(outgoing.req.headers.host ?? '')),
        ...pageHeaders,
      })
      .end(html);
  }

  async function serveManifest(built: string, outgoing: ServerResponse): Promise<void> {
    const config = await publicConfig().catch(() => null);
    outgoing
      .writeHead(200, { 'content-type': types['.webmanifest'], 'cache-control': 'no-cache', ...pageHeaders })
      .end(config === null ? built : brandedManifest(built, config.branding));
  }

  const serveAddress = (pathname: string, outgoing: ServerResponse) =>
    servePage(isClientPage(pathname) ? 200 : 404, outgoing);

  return {
    servePage,
    async serve(pathname, acceptEncoding, outgoing) {
      if (isDocsAddress(pathname)) {
        const site = { folder, files, headers: pageHeaders, encodings };
        if (await serveDocs(site, pathname, acceptEncoding, outgoing)) return;
      }
      if (pathname === manifestPath && manifest !== undefined) return serveManifest(manifest, outgoing);
      if (pathname === '/index.html' || !files.has(pathname) || !/\.\w+$/.test(pathname)) {
        return serveAddress(pathname, outgoing);
      }
      const encoding = encodings.find(
        ({ name, suffix }) => acceptEncoding.includes(name) && files.has(pathname + suffix),
      );
      const handle = await open(join(folder, pathname + (encoding?.suffix ?? ''))).catch(() => undefined);
      if (handle === undefined) return serveAddress(pathname, outgoing);
      await sendFile(handle, outgoing, {
        'content-type': types[extname(pathname)] ?? 'application/octet-stream',
        // Vite names files below /assets by content, and so does the documentation.
        'cache-control': /^\/(?:docs\/)?assets\//.test(pathname) ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'accept-encoding',
        ...(encoding === undefined ? {} : { 'content-encoding': encoding.name }),
        ...pageHeaders,
        ...ownHeaders(pathname),
      });
    },
  };
}

/**
 * Paths below the address. Node's own recursive listing asks for the state of every entry, which takes ten times as
 * long.
 */
async function listFiles(folder: string, address: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const lists = entries.map(async (entry) => {
    const path = address + entry.name;
    return entry.isDirectory() ? listFiles(join(folder, entry.name), `${path}/`) : [path];
  });
  return (await Promise.all(lists)).flat();
}

async function sendFile(handle: FileHandle, outgoing: ServerResponse, headers: OutgoingHttpHeaders): Promise<void> {
  try {
    const { size } = await handle.stat();
    outgoing.writeHead(200, { ...headers, 'content-length': size });
    await pipeline(handle.createReadStream({ autoClose: false }), outgoing);
  } catch (error) {
    // A client that disconnects early is not an error of ours; an unreadable file breaks the connection.
    if (!isPrematureClose(error)) throw error;
  } finally {
    await handle.close();
  }
}

function isPrematureClose(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}

const pageHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
};

/** Extra headers of a built file, by address. */
function ownHeaders(pathname: string): OutgoingHttpHeaders {
  const policy = framePolicies.get(pathname);
  if (policy !== undefined) return { 'content-security-policy': policy, 'x-dns-prefetch-control': 'off' };
  // A sandboxed page has no origin, so even its own scripts count as foreign and need permission. They are public, the
  // same for everybody, and requested without cookies.
  if (pathname.startsWith(frameAssets)) return { 'access-control-allow-origin': '*' };
  return {};
}

const closed = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'", 'sandbox allow-scripts'];

/** Pages in the client's frames show untrusted code: they have no origin and can request only their own scripts. */
const framePolicies = new Map([
  // Texts are measured in the style that the picture will have.
  ['/diagram.html', ["default-src 'none'", "script-src 'self'", "style-src 'unsafe-inline'", ...closed].join('; ')],
  [
    '/rendered.html',
    [
      "default-src 'none'",
      // Code written by a model runs here, with its own data only.
      "script-src 'self' 'unsafe-inline' data: blob:",
      "style-src 'unsafe-inline' data: blob:",
      'img-src data: blob:',
      'media-src data: blob:',
      'font-src data:',
      'worker-src blob: data:',
      // The page's own policy allows everything but nested frames: a nested frame would have the removed interfaces
      // again.
      "require-trusted-types-for 'script'",
      'trusted-types default',
      ...closed,
    ].join('; '),
  ],
]);

function pagePolicy(nonce: string, previews: string | undefined): string {
  return [
    "default-src 'none'",
    // The nonce is for the one inline script that sets the color scheme before the first paint.
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    // Mantine and React set style attributes for positions; they cannot load anything.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    // Previews of PDF files, diagrams and generated pages; their own policies say what they may do. Apps in workspaces
    // are at other origins.
    `frame-src 'self'${previews === undefined ? '' : ` ${previews}`}`,
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ');
}
