import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sniffBrandImage } from '@homeport/contracts/files/image-bytes';
import { limits } from '@homeport/contracts/limits';
import { brandImageBytes } from './brand-image.ts';

const text = (value: string) => new TextEncoder().encode(value);

test('detects the type of an image from its bytes', () => {
  const cases: [Uint8Array, string | undefined][] = [
    [new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]), 'image/png'],
    [new Uint8Array([0xff, 0xd8, 0xff, 0xe0]), 'image/jpeg'],
    [text('RIFF\u0001\u0001\u0001\u0001WEBPVP8 '), 'image/webp'],
    [new Uint8Array([0, 0, 1, 0, 1, 0]), 'image/x-icon'],
    [text('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
    [text('\ufeff<?xml version="1.0"?>\n<!-- made by hand -->\n<svg/>'), 'image/svg+xml'],
    [text('<html><svg></svg></html>'), undefined],
    [text('GIF89a'), undefined],
    [text('RIFF\u0001\u0001\u0001\u0001WAVE'), undefined],
    [new Uint8Array(), undefined],
  ];
  for (const [bytes, type] of cases) assert.equal(sniffBrandImage(bytes), type);
});

test('accepts the largest image that fits into a data URL within the limit', () => {
  const dataUrl = `data:image/svg+xml;base64,${Buffer.alloc(brandImageBytes).toString('base64')}`;
  assert.ok(dataUrl.length <= limits.brandingImageMax);
  assert.ok(dataUrl.length > limits.brandingImageMax - 8);
});
