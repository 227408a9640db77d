import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPassword } from '@homeport/contracts/fields';
import { generatePassword } from './generate-password.ts';

test('generates distinct passwords that meet the rules, without ambiguous characters', () => {
  const passwords = Array.from({ length: 500 }, generatePassword);
  for (const password of passwords) {
    assert.ok(newPassword.safeParse(password).success, password);
    assert.match(password, /^[a-km-zA-HJ-NP-Z2-9]{5}(-[a-km-zA-HJ-NP-Z2-9]{5}){3}$/);
    assert.doesNotMatch(password, /[o0O1lI]/);
  }
  assert.equal(new Set(passwords).size, passwords.length);
});
