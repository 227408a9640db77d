import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { answerFault, contentOf, readElicitation } from './elicitation.ts';

const form = (properties: object, required: unknown = []) =>
  readElicitation({ message: 'Please', requestedSchema: { type: 'object', properties, required } });

test('refuses to ask for secrets, marked by format or by schema', () => {
  for (const property of [
    { type: 'string', format: 'password' },
    { type: 'string', writeOnly: true },
  ]) {
    assert.deepEqual(form({ name: { type: 'string' }, key: property }), { refused: 'it asks for a secret' });
  }
});

test('accepts only complete https addresses', () => {
  const url = (address: unknown) => readElicitation({ mode: 'url', message: 'Go', url: address });
  assert.deepEqual(url('https://example.org/a b'), { message: 'Go', url: 'https://example.org/a%20b', questions: [] });
  for (const bad of [
    'http://example.org',
    'javascript:alert(1)',
    'file:///etc/passwd',
    5,
    `https://${'a'.repeat(3000)}`,
  ]) {
    assert.ok('refused' in url(bad), String(bad).slice(0, 40));
  }
});

test('reads or refuses any elicitation within bounds', () => {
  const many = Object.fromEntries(
    Array.from({ length: limits.elicitationFields + 1 }, (_, n) => [`f${n}`, { type: 'string' }]),
  );
  const choices = { type: 'string', enum: Array.from({ length: limits.elicitationChoices + 1 }, (_, n) => `${n}`) };
  for (const bad of [
    null,
    5,
    [],
    { a: 5 },
    { a: { type: 'object' } },
    { a: { type: 'null' } },
    { '': { type: 'string' } },
    many,
    { choices },
  ]) {
    const read = readElicitation({ message: 7, requestedSchema: { properties: bad } });
    assert.ok('refused' in read || read.questions.length === 0, JSON.stringify(bad)?.slice(0, 60));
  }
  assert.ok('refused' in readElicitation(undefined));
  const read = form({ a: { type: 'string', title: `x\n\u202e${'y'.repeat(5000)}`, description: 'd'.repeat(5000) } });
  assert.ok('questions' in read);
  const [question] = read.questions;
  assert.ok(
    question !== undefined &&
      question.question.length <= limits.questionTextMax &&
      !/[\n\u202e]/.test(question.question),
  );
});

test('distinguishes equal labels by their values', () => {
  const read = form({ a: { type: 'string', enum: ['one', 'two'], enumNames: ['Same', 'Same'] } });
  assert.ok('questions' in read);
  assert.deepEqual(read.questions[0]?.options, [{ label: 'one' }, { label: 'two' }]);
  assert.deepEqual(contentOf(read.questions, [['two']]), { a: 'two' });
});

test('treats a field with the name of a secret as a secret', () => {
  for (const name of ['password', 'dbPassword', 'client_secret', 'API-Key', 'accessToken', 'passphrase'])
    assert.ok('refused' in form({ [name]: { type: 'string' } }), name);
  for (const name of ['keyboard', 'tokens', 'passenger', 'name'])
    assert.ok('questions' in form({ [name]: { type: 'string' } }), name);
});

test('enforces the bounds of numbers and texts', () => {
  const read = form({ n: { type: 'integer', minimum: 1, maximum: 5 }, s: { type: 'string', minLength: 2 } }, ['n']);
  assert.ok('questions' in read);
  const [n, s] = read.questions;
  assert.ok(n !== undefined && s !== undefined);
  for (const bad of [[], ['0'], ['6'], ['1.5'], ['x'], ['1', '2']])
    assert.ok(answerFault(n, bad) !== undefined, bad.join());
  assert.deepEqual(
    [answerFault(n, ['3']), answerFault(s, []), answerFault(s, ['ab'])],
    [undefined, undefined, undefined],
  );
  assert.ok(answerFault(s, ['a']) !== undefined);
  assert.deepEqual(contentOf(read.questions, [['3'], []]), { n: 3 });
});

test('refuses an endless choice and an address that displays another host', () => {
  const long = form({ a: { type: 'string', enum: ['x'.repeat(1_001), 'y'] } });
  assert.deepEqual(long, { refused: 'it asks for something unknown' });
  const asked = readElicitation({ mode: 'url', message: 'Pay', url: 'https://bank.example@evil.example/' });
  assert.deepEqual(asked, { refused: 'its address contains a sign-in' });
});

test('refuses a form of many long choices although each part is allowed', () => {
  const choice = { type: 'string', enum: Array.from({ length: 50 }, (_, n) => `${n}`.padEnd(1_000, 'x')) };
  const fields = (count: number) =>
    form(Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, choice])));
  assert.ok('questions' in fields(1));
  assert.deepEqual(fields(20), { refused: 'it asks for too much at once' });
});

test('offers the defaults of a form as initial answers, and sends them for fields that were not answered', () => {
  const properties = {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'idle'], enumNames: ['Active', 'Idle'], default: 'active' },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, default: ['a', 'c'] },
    verified: { type: 'boolean', default: false },
    wrong: { type: 'integer', default: 'many' },
    unknown: { type: 'string', enum: ['x'], default: 'y' },
    none: { type: 'string' },
  };
  const asked = readElicitation({ message: 'Defaults', requestedSchema: { type: 'object', properties } });
  assert.ok('questions' in asked);
  const { questions } = asked;
  assert.deepEqual(
    questions.map(({ field }) => field?.initial),
    [['John Doe'], ['30'], ['95.5'], ['Active'], ['a', 'c'], ['No'], undefined, undefined, undefined],
  );
  const expected = { name: 'John Doe', age: 30, score: 95.5, status: 'active', tags: ['a', 'c'], verified: false };
  assert.deepEqual(contentOf(questions, []), expected);
  const { tags } = expected;
  assert.deepEqual(contentOf(questions, [['Ada'], [], [], ['Idle']]), {
    name: 'Ada',
    status: 'idle',
    tags,
    verified: false,
  });
});
