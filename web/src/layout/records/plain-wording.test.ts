import assert from 'node:assert/strict';
import { test } from 'node:test';
import { english } from '@homeport/contracts/error-texts/english';
import { texts as germanTexts } from '../../locales/de/chat/ask.ts';
import { texts as englishTexts } from '../../locales/en/chat/ask.ts';
import { plainTextOf } from './plain-wording.ts';

const textOf = (code: string, details?: unknown, canEditTools = false) =>
  plainTextOf({ code, message: '', details }, canEditTools);

test('tells to wait, to change the message, or whom to ask', () => {
  const cases: [string, unknown, string | undefined][] = [
    ['provider_error', { reason: 'key', values: {} }, 'ask.broken'],
    ['provider_error', { reason: 'credit', values: {} }, 'ask.broken'],
    ['provider_error', { reason: 'protocol', values: { problem: 'web_page' } }, 'ask.broken'],
    ['provider_error', { reason: 'overloaded', values: {} }, 'ask.busy'],
    ['provider_error', { reason: 'rate_limit', values: { retryAt: '2026-01-01T00:00:00Z' } }, 'ask.busy'],
    ['provider_error', { reason: 'other', values: { problem: 'timeout' } }, 'ask.busy'],
    ['provider_error', { reason: 'context', values: {} }, 'ask.tooLong'],
    ['provider_error', { reason: 'images', values: {} }, 'ask.image'],
    ['provider_error', undefined, 'ask.broken'],
    ['provider_unreachable', { reason: 'dns' }, 'ask.broken'],
    ['provider_unreachable', { reason: 'timeout' }, 'ask.busy'],
    ['model_unavailable', undefined, 'ask.gone'],
    ['internal_error', undefined, undefined],
    ['not_found', undefined, undefined],
  ];
  for (const [code, details, expected] of cases) assert.equal(textOf(code, details), expected, JSON.stringify(details));
});

test('keeps failures of tools for people who manage tools', () => {
  assert.equal(textOf('mcp_unreachable', { reason: 'dns' }), 'ask.tool');
  assert.equal(textOf('mcp_unreachable', { reason: 'dns' }, true), undefined);
  assert.equal(textOf('blocked_destination', undefined, true), undefined);
});

test('words every failure of a model without technical terms', () => {
  const technical = /provider|mcp|\btier|token|base url|anbieter|stufe|NODE_|https?:/i;
  for (const key of Object.keys(english).filter((id) => /^(provider_|model_)/.test(id))) {
    const [code = '', reason = '', problem = ''] = key.split('.');
    const text = textOf(code, { reason, values: { problem } });
    assert.ok(text !== undefined, key);
  }
  for (const [id, text] of [...Object.entries(englishTexts), ...Object.entries(germanTexts)])
    if (id.startsWith('ask.')) assert.doesNotMatch(text, technical, id);
});
