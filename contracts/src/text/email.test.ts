import assert from 'node:assert/strict';
import { test } from 'node:test';
import { email } from '../fields.ts';
import { asciiDomain, normalEmail } from './email.ts';

test('gives every way to write an address one normal form', () => {
  for (const [written, normal] of [
    ['Ada.Lovelace@Example.COM', 'ada.lovelace@example.com'],
    ["o'brien+x@example.com", "o'brien+x@example.com"],
    ['jürgen@exämple.de', 'jürgen@xn--exmple-cua.de'],
    ['JÜRGEN@EXÄMPLE.DE', 'jürgen@xn--exmple-cua.de'],
    ['ju\u0308rgen@exa\u0308mple.de', 'jürgen@xn--exmple-cua.de'],
    ['jürgen@XN--EXMPLE-CUA.de', 'jürgen@xn--exmple-cua.de'],
    ['почта@пример.рф', 'почта@xn--e1afmkfd.xn--p1ai'],
    ['用户@例え.jp', '用户@xn--r8jz45g.jp'],
    ['straße@straße.de', 'straße@xn--strae-oqa.de'],
  ] as const) {
    assert.equal(normalEmail(written), normal, written);
    assert.equal(normalEmail(normal), normal, normal);
    assert.equal(email.parse(` ${written} `), normal);
  }
});

test('refuses text that is no address, and addresses that look like another one', () => {
  for (const text of [
    ...[
      '',
      '@',
      'a@',
      '@b.example',
      'a b@c.example',
      'a@b',
      'a@b@c.example',
      '<a@b.example>',
      'a@b.example,c@d.example',
    ],
    ...[
      'a@b.example:80',
      'a@u:p@b.example',
      'a@[127.0.0.1]',
      'a@b.example/x',
      'a\u0000@b.example',
      'a\u200d@b.example',
    ],
    ...['\u212aarl@b.example', 'a@\uff42.example', 'a@ſite.example', '\ufb01@b.example', 'p\u0435ter@b.example'],
    ...['peter@ex\u0430mple.com'],
  ]) {
    assert.equal(normalEmail(text), undefined, JSON.stringify(text));
    assert.equal(email.safeParse(text).success, false, JSON.stringify(text));
  }
});

test('writes domains as DNS has them', () => {
  assert.equal(asciiDomain('EXÄMPLE.de'), 'xn--exmple-cua.de');
  assert.equal(asciiDomain('Example.org'), 'example.org');
  for (const text of ['', 'a:1', 'u@a', '%61.example', 'ex\u0430mple.com']) assert.equal(asciiDomain(text), undefined);
});
