import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countSet, parameterFaults, parametersOf, parameterValues } from './parameter-values.ts';

const t = (id: string) => id;
const unset = parameterValues({});

test('sends only set parameters and restores them unchanged', () => {
  assert.deepEqual(parametersOf(unset), {});
  assert.equal(countSet(unset), 0);
  const all = {
    temperature: 0,
    topP: 0.9,
    maxOutputTokens: 500,
    reasoningEffort: 'high',
    verbosity: 'low',
    stop: ['END', '\n\n', 'C:\\new'],
    seed: -7,
  } as const;
  const values = parameterValues({ ...all, stop: [...all.stop] });
  assert.deepEqual(parametersOf(values), all);
  assert.equal(countSet(values), 7);
  assert.ok(Object.values(parameterFaults(values, t)).every((fault) => fault === null));
});

test('reads one stop text per line and ignores empty lines', () => {
  assert.deepEqual(parametersOf({ ...unset, stop: '\nEND\n\\n\\n\n' }), { stop: ['END', '\n\n'] });
});

test('rejects values out of bounds at their field', () => {
  const cases = [
    ['temperature', 2.1],
    ['temperature', '-'],
    ['topP', 1.5],
    ['maxOutputTokens', 0],
    ['maxOutputTokens', 1.5],
    ['seed', 2 ** 60],
    ['stop', 'a\nb\nc\nd\ne'],
    ['stop', 'x'.repeat(201)],
  ] as const;
  for (const [name, value] of cases) {
    const faults = parameterFaults({ ...unset, [name]: value }, t);
    const faulty = Object.entries(faults).filter(([, fault]) => fault !== null);
    assert.deepEqual(
      faulty.map(([field]) => field),
      [name],
      `${name} ${value}`,
    );
  }
});
