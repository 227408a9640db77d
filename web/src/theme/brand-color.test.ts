import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { brandShades, contrast, readableOn, shadeOn } from './brand-color.ts';

const hex = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

test('measures a contrast of 21 for black and white, 1 for a color with itself', () => {
  assert.equal(contrast('#000000', '#ffffff').toFixed(2), '21.00');
  assert.equal(contrast('#3b5bdb', '#3b5bdb'), 1);
  assert.equal(contrast('#767676', '#ffffff').toFixed(2), '4.54');
});

test('derives ten hex shades from a brand color, itself the seventh', () => {
  fc.assert(
    fc.property(hex, (color) => {
      const shades = brandShades(color);
      assert.equal(shades[6], color);
      for (const shade of shades) assert.match(shade, /^#[0-9a-f]{6}$/);
    }),
  );
});

test('keeps text readable on any brand color', () => {
  fc.assert(fc.property(hex, hex, (color, wished) => assert.ok(contrast(color, readableOn(color, wished)) >= 4.5)));
});

test('the accent reaches its ratio on any surface', () => {
  fc.assert(
    fc.property(hex, fc.constantFrom('#ffffff', '#f7f7f8', '#161719', '#0f1011'), (color, surface) => {
      assert.ok(contrast(shadeOn(brandShades(color), surface, 4.5), surface) >= 4.5);
    }),
  );
});
