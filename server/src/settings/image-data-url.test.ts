import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageTypeOf } from './image-data-url.ts';

const base64 = (mediaType: string, bytes: number[] | string) =>
  `data:${mediaType};base64,${Buffer.from(bytes as string).toString('base64')}`;
const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3];
const jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 16];
const webp = [...Buffer.from('RIFF'), 1, 0, 0, 0, ...Buffer.from('WEBPVP8 ')];
const icon = [0, 0, 1, 0, 1, 0];
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>';

test('detects images by their bytes', () => {
  const pictures: [string, string][] = [
    [base64('image/png', png), 'image/png'],
    [base64('IMAGE/PNG', png), 'image/png'],
    [base64('image/jpeg', jpeg), 'image/jpeg'],
    [base64('image/webp', webp), 'image/webp'],
    [base64('image/x-icon', icon), 'image/x-icon'],
    [base64('image/vnd.microsoft.icon', icon), 'image/x-icon'],
    [base64('image/svg+xml', svg), 'image/svg+xml'],
    [
      base64('image/svg+xml;charset=utf-8', `\ufeff<?xml version="1.0"?>\n<!-- a -->\n<!DOCTYPE svg>\n${svg}\n`),
      'image/svg+xml',
    ],
    [`data:image/svg+xml,${encodeURIComponent(svg)}`, 'image/svg+xml'],
    [`data:image/svg+xml;utf8,${svg.replaceAll('"', "'")}`, 'image/svg+xml'],
    ['data:image/svg+xml,<svg/>', 'image/svg+xml'],
  ];
  for (const [url, type] of pictures) assert.equal(imageTypeOf(url), type, url);
});

test('rejects other data under any media type', () => {
  const others = [
    base64('image/png', jpeg),
    base64('image/png', '<html><script>alert(1)</script></html>'),
    base64('image/svg+xml', '<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>'),
    base64('image/svg+xml', `<!DOCTYPE svg [<!ENTITY a "b">]>${svg}`),
    base64('image/svg+xml', `${svg}<script>alert(1)</script>`),
    base64('image/svg+xml', 'MZ<svg></svg>'),
    base64('image/svg+xml', [0xff, 0xfe, 0x3c, 0]),
    base64('image/svg+xml', '<!-- never closed'),
    base64('image/gif', 'GIF89a'),
    base64('text/html', svg),
    base64('image/png', []),
    'data:image/png;base64,???',
    'data:image/svg+xml,%E0%A4%A',
    'data:,',
    'https://example.org/logo.png',
    'javascript:alert(1)',
    '',
  ];
  for (const url of others) assert.equal(imageTypeOf(url), undefined, url);
});
