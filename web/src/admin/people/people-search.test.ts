import assert from 'node:assert/strict';
import { test } from 'node:test';
import { peopleQuery, readPeopleSearch, writePeopleSearch } from './people-search.ts';

test('keeps known filters and orders of an address and drops everything else', () => {
  assert.deepEqual(readPeopleSearch({ show: 'no-model', sort: 'seen' }), { show: 'no-model', sort: 'seen' });
  assert.deepEqual(readPeopleSearch({ show: 'nobody', sort: 'age' }), { show: 'everyone', sort: 'created' });
  assert.deepEqual(writePeopleSearch({ show: 'everyone', sort: 'created' }), {});
  assert.deepEqual(writePeopleSearch({ show: 'disabled', sort: 'name' }), { show: 'disabled', sort: 'name' });
});

test('asks for enabled accounts without a model, and for no accounts among invitations', () => {
  assert.deepEqual(peopleQuery('no-model'), { model: 'none', enabled: '1' });
  assert.deepEqual(peopleQuery('everyone'), {});
  assert.equal(peopleQuery('invited'), undefined);
});
