import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachment } from './content-disposition.ts';

const cases: [name: string, header: string][] = [
  ['plan.md', 'attachment; filename="plan.md"'],
  ['two words.md', 'attachment; filename="two words.md"'],
  ['Über.md', `attachment; filename="Uber.md"; filename*=UTF-8''%C3%9Cber.md`],
  ['€ rates.md', `attachment; filename="_ rates.md"; filename*=UTF-8''%E2%82%AC%20rates.md`],
  ['a"b\\c%41.md', `attachment; filename="a_b_c_41.md"; filename*=UTF-8''a%22b%5Cc%2541.md`],
  ["it's (1)*.md", `attachment; filename="it's (1)*.md"`],
  ['👩‍🚀.md', `attachment; filename="___.md"; filename*=UTF-8''%F0%9F%91%A9%E2%80%8D%F0%9F%9A%80.md`],
  ['a\r\nset-cookie: x=1', `attachment; filename="a__set-cookie: x=1"; filename*=UTF-8''a%0D%0Aset-cookie%3A%20x%3D1`],
  ['\ud800.md', `attachment; filename="_.md"; filename*=UTF-8''%EF%BF%BD.md`],
];

for (const [name, header] of cases) {
  test(`names ${JSON.stringify(name)}`, () => {
    assert.equal(attachment(name), header);
    assert.doesNotThrow(() => new Headers({ 'content-disposition': attachment(name) }));
  });
}
