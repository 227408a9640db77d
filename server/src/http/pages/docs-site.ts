import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { trimEndOf } from '@homeport/contracts/text/trim-characters';

/** True for the addresses of the documentation, which is public: nothing in it is this installation's own. */
export const isDocsAddress = (pathname: string): boolean => /^\/docs(?:\/|$)/.test(pathname);

const assets = '/docs/assets/';

/** The file behind an address, below the folder of the client; undefined if it is an asset or no page. */
function pageFile(pathname: string): string | undefined {
  if (pathname.startsWith(assets) || pathname.endsWith('.html')) return undefined;
  const path = trimEndOf(pathname, '/');
  return path === '/docs' ? '/docs/index.html' : `${path}.html`;
}

type Site = {
  folder: string;
  /** Every built file, by its address. */
  files: ReadonlySet<string>;
  headers: Readonly<Record<string, string>>;
  encodings: readonly { name: string; suffix: string }[];
};

/**
 * Answers with a page of the documentation, or with its 404 page; false for one of its assets, which are files like
 * others. A page is read for each request: it is a few dozen kilobytes, and its tag is that of its bytes.
 */
export async function serveDocs(
  { folder, files, headers, encodings }: Site,
  pathname: string,
  acceptEncoding: string,
  outgoing: ServerResponse,
): Promise<boolean> {
  if (pathname.startsWith(assets) && files.has(pathname)) return false;
  const wanted = pageFile(pathname);
  const isThere = wanted !== undefined && wanted !== '/docs/404.html' && files.has(wanted);
  const file = isThere ? wanted : '/docs/404.html';
  if (!files.has(file)) return false;
  const encoding = encodings.find(({ name, suffix }) => acceptEncoding.includes(name) && files.has(file + suffix));
  const content = await readFile(join(folder, file + (encoding?.suffix ?? '')));
  const tag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`;
  const all = {
    ...headers,
    'content-security-policy': policy,
    'cache-control': 'no-cache',
    etag: tag,
    vary: 'accept-encoding',
  };
  if (isThere && hasTag(outgoing.req.headers['if-none-match'], tag)) {
    outgoing.writeHead(304, all).end();
    return true;
  }
  outgoing
    .writeHead(isThere ? 200 : 404, {
      ...all,
      'content-type': 'text/html; charset=utf-8',
      'content-length': content.length,
      ...(encoding === undefined ? {} : { 'content-encoding': encoding.name }),
    })
    .end(content);
  return true;
}

/** RFC 9110, 13.1.2: a list of tags, weak or not, or `*`. */
function hasTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((part) => part.trim() === '*' || part.trim().replace(/^W\//, '') === tag);
}

/** Policy for pages without inline code: they load only files of the same folder. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
