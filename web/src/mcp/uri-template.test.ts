import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillTemplate, templateNames } from './uri-template.ts';

test('lists variables once, in order', () => {
  assert.deepEqual(templateNames('notes://{user}/{+path}{?page,size*}&again={user}'), ['user', 'path', 'page', 'size']);
  assert.deepEqual(templateNames('notes://plain'), []);
});

test('encodes values so that they stay in place; a path is required, a query is optional', () => {
  const template = 'notes://{user}/{+path}{?page,size}';
  assert.equal(fillTemplate(template, { user: 'a' }), undefined);
  assert.equal(fillTemplate(template, { user: 'a/b?c', path: 'x/y z' }), 'notes://a%2Fb%3Fc/x/y%20z');
  assert.equal(fillTemplate(template, { user: 'a', path: 'x', size: '2' }), 'notes://a/x?size=2');
  assert.equal(fillTemplate('a://{x,y}', { x: '1', y: '2' }), 'a://1,2');
  assert.equal(fillTemplate('a://b', {}), 'a://b');
});
