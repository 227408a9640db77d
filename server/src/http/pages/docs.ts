import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ApiError } from '@homeport/contracts/errors';
import { Content } from '../handler.ts';

const assets: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/**
 * swagger-ui's own resolver reads the whole description again for each operation that is opened, which freezes the page
 * for seconds. This description refers to its own components only, and to none that contains itself.
 */
const initializer = `window.addEventListener('load', () => {
  const at = (value, path) => path.reduce((found, name) => found?.[name], value);
  const resolved = (value, description) => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => resolved(item, description));
    const { $ref } = value;
    if (typeof $ref === 'string') return resolved(at(description, $ref.slice('#/'.length).split('/')), description);
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolved(item, description)]));
  };
  const resolveSubtree = async (description, path) => {
    return { spec: resolved(at(description, path), description), errors: [] };
  };
  const plugins = [() => ({ fn: { resolveSubtree } })];
  SwaggerUIBundle({ url: '/api/openapi.json', dom_id: '#docs', deepLinking: true, plugins });
});`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Homeport API</title>
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
<link rel="icon" href="/api/docs/favicon-32x32.png">
</head>
<body>
<div id="docs"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/initializer.js"></script>
</body>
</html>
`;

// swagger-ui shows inline SVG images; all of its scripts and styles come from here.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

/** The page at `/api/docs`: swagger-ui from this installation's own files, so it works offline. */
export function docsPage(): Content {
  return new Content(page, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy });
}

/** One of swagger-ui's files. Throws `not_found` for any name that the page does not use. */
export async function docsAsset(name: string): Promise<Content> {
  if (name === 'initializer.js') return new Content(initializer, { 'content-type': 'text/javascript; charset=utf-8' });
  const type = Object.hasOwn(assets, name) ? assets[name] : undefined;
  if (type === undefined) throw new ApiError('not_found', 'There is nothing at this address');
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return new Content(await readFile(join(folder, name)), { 'content-type': type });
}
