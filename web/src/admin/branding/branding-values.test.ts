import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultBranding } from '@homeport/contracts/default-branding';
import { brandingFaults, brandingPatch, brandingValues, chosenBranding, contrastText } from './branding-values.ts';

const t = (id: string) => id;

test('derives the foreground from the color unless it was chosen', () => {
  const values = brandingValues(defaultBranding);
  assert.equal(values.foreground, 'auto');
  const yellow = { ...values, primaryColor: '#ffd400' };
  assert.equal(chosenBranding(yellow, defaultBranding).primaryForegroundColor, '#000000');
  const own = { ...yellow, foreground: 'own' as const, primaryForegroundColor: '#663300' };
  assert.equal(chosenBranding(own, defaultBranding).primaryForegroundColor, '#663300');
  assert.equal(brandingValues({ ...defaultBranding, primaryForegroundColor: '#eeeeee' }).foreground, 'own');
});

test('rejects an incomplete color and keeps the stored one in the preview', () => {
  const values = { ...brandingValues(defaultBranding), primaryColor: '#ff', productName: ' ' };
  const faults = brandingFaults(values, t);
  assert.equal(faults.primaryColor, 'branding.colorBad');
  assert.equal(faults.productName, 'form.required');
  assert.equal(faults.primaryForegroundColor, null);
  assert.equal(chosenBranding(values, defaultBranding).primaryColor, defaultBranding.primaryColor);
});

test('sends only new images, and null for removed ones', () => {
  const stored = { ...defaultBranding, logoDataUrl: 'data:image/png;base64,AA' };
  const values = brandingValues(stored);
  assert.equal('logoDataUrl' in brandingPatch(values, stored), false);
  assert.equal(brandingPatch({ ...values, logoDataUrl: null }, stored).logoDataUrl, null);
});

test("rounds a failing contrast down so that it doesn't look like a pass", () => {
  const { ratio, text } = contrastText('#777777', '#ffffff', 'en');
  assert.ok(ratio < 4.5);
  assert.equal(text, '4.4');
});
