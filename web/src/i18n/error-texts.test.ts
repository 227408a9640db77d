import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureDetail, loadErrorTexts, wordFailure } from './error-texts.ts';

const quota = { code: 'provider_error', message: 'English.', details: { reason: 'quota', values: {} } };
const plain = { code: 'email_taken', message: 'An account with this address exists: a@b.c' };

test('words failures in the language of the page', async () => {
  assert.equal(wordFailure(quota), 'English.');
  await loadErrorTexts('de');
  assert.match(wordFailure(quota), /Kontingent/);
  assert.match(wordFailure(plain), /schon ein Konto/);
  assert.equal(wordFailure({ code: 'of_a_later_version', message: 'New.' }), 'New.');
  await loadErrorTexts('en');
  assert.match(wordFailure(quota), /quota of the account/);
  assert.equal(wordFailure(plain), plain.message);
});

test('keeps the provider’s sentence, and the server’s English text where the German one is general', async () => {
  await loadErrorTexts('de');
  const said = { ...quota, details: { ...quota.details, providerMessage: 'You exceeded your quota.' } };
  assert.equal(failureDetail(said), 'You exceeded your quota.');
  assert.equal(failureDetail(quota), undefined);
  assert.equal(failureDetail(plain), plain.message);
  await loadErrorTexts('en');
  assert.equal(failureDetail(plain), undefined);
});

test('words the notices of answers in German, and keeps the server’s text in English and without its values', async () => {
  const notice = (values: object | undefined, code = 'mcp_drifted') =>
    wordFailure({ code: `notice.${code}`, message: 'English.', details: { code, message: 'English.', values } });
  await loadErrorTexts('de');
  assert.match(notice({ server: 'Wetter' }), /Werkzeuge des MCP-Servers „Wetter“ haben sich geändert/);
  assert.equal(notice(undefined), 'English.');
  assert.match(notice(undefined, 'turn_budget'), /Grenze erreicht/);
  assert.equal(notice({}, 'of_a_later_version'), 'English.');
  await loadErrorTexts('en');
  assert.equal(notice({ server: 'Weather' }), 'English.');
});
