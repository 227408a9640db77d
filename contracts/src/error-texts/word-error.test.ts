import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorStatus } from '../errors.ts';
import { english } from './english.ts';
import { german } from './german.ts';
import { type ErrorTexts, wordError } from './word-error.ts';

const tables: Record<string, ErrorTexts> = { english, german };

test('has English and German words for every code, with the same values in both', () => {
  for (const code of Object.keys(errorStatus)) {
    for (const [language, texts] of Object.entries(tables)) assert.ok(texts[code], `${language} ${code}`);
  }
  const valuesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();
  for (const [name, text] of Object.entries(english)) {
    assert.deepEqual(valuesIn(german[name as keyof typeof english]), valuesIn(text), name);
  }
});

test('chooses the narrowest text whose values are known', () => {
  const cases: [unknown, RegExp][] = [
    [{ reason: 'quota', values: {} }, /Kontingent .* aufgebraucht/],
    [{ reason: 'rate_limit', values: { retryAt: '2026-01-01T00:00:00Z' } }, /bis 2026-01-01 00:00 UTC/],
    [{ reason: 'rate_limit', values: { retryAt: 'tomorrow' } }, /Warte einen Moment/],
    [{ reason: 'parameter', values: { parameter: 'top_p' } }, /„top_p“/],
    [{ reason: 'other', values: { problem: 'model' } }, /kennt dieses Modell nicht/],
    [{ reason: 'other', values: { problem: 'nonsense' } }, /mit einem Fehler geantwortet/],
    [{ reason: '__proto__', values: { constructor: 1 } }, /mit einem Fehler geantwortet/],
    [null, /mit einem Fehler geantwortet/],
  ];
  for (const [details, expected] of cases) assert.match(wordError(german, 'provider_error', details) ?? '', expected);
  assert.match(
    wordError(german, 'provider_unreachable', { reason: 'reset', phase: 'response' }) ?? '',
    /bevor die Antwort vollständig war/,
  );
  assert.equal(wordError(german, 'unheard_of', {}), undefined);
  assert.equal(wordError(german, 'toString', {}), undefined);
});

test('names the time at which a used-up budget starts again', () => {
  const local = () => '9:00 AM';
  const details = { resetsAt: '2026-12-01T00:00:00.000Z' };
  assert.match(wordError(english, 'budget_exhausted', details, local) ?? '', /used up until 9:00 AM/);
  assert.match(wordError(german, 'budget_exhausted', details, local) ?? '', /bis 9:00 AM aufgebraucht/);
  for (const without of [undefined, {}, { resetsAt: 'soon' }])
    assert.match(wordError(german, 'budget_exhausted', without, local) ?? '', /^Das Budget für Modelle/);
});

test('shortens values and never reads texts from them', () => {
  const parameter = '{retryAt}'.repeat(100);
  const worded = wordError(english, 'provider_error', { reason: 'parameter', values: { parameter } }) ?? '';
  assert.ok(worded.length < 400 && worded.includes('{retryAt}'));
});
