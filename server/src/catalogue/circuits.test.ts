import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Circuit, circuitOf, outageOf } from './circuits.ts';

const provider = { id: 'p', base_url: 'https://box.example/v1' };

function failing(circuit: Circuit, times: number, now = 0): void {
  for (let count = 0; count < times; count += 1) circuit.fail(circuit.admit(now) ?? 'closed', 'unreachable', now);
}

test('opens after five failures in a row, and not after a success or a long time between them', () => {
  const circuit = new Circuit();
  failing(circuit, 4);
  circuit.succeed();
  failing(circuit, 4);
  assert.equal(circuit.admit(0), 'closed');
  failing(circuit, 1, 60_001);
  assert.equal(circuit.admit(60_001), 'closed');
  failing(circuit, 4, 60_001);
  assert.equal(circuit.admit(60_001), undefined);
});

test('lets one call at a time through, at growing intervals, until one succeeds', () => {
  const circuit = new Circuit();
  failing(circuit, 5);
  assert.equal(circuit.admit(9_999), undefined);
  let now = 0;
  for (const pause of [10_000, 20_000, 40_000, 60_000, 60_000]) {
    now += pause;
    assert.equal(circuit.admit(now - 1), undefined);
    assert.equal(circuit.admit(now), 'probe');
    assert.equal(circuit.admit(now), undefined);
    circuit.fail('closed', 'error', now);
    assert.equal(circuit.admit(now), undefined);
    circuit.fail('probe', 'error', now);
  }
  assert.equal(circuit.admit(now + 60_000), 'probe');
  circuit.succeed();
  assert.equal(circuit.admit(now + 60_000), 'closed');
});

test('an aborted probe leaves room for another one', () => {
  const circuit = new Circuit();
  failing(circuit, 5);
  assert.equal(circuit.admit(10_000), 'probe');
  circuit.release('probe');
  assert.equal(circuit.admit(10_000), 'probe');
});

test('shows the outage of a provider at its present address only', () => {
  failing(circuitOf(provider), 5, 1_000);
  assert.deepEqual(outageOf(provider), {
    since: '1970-01-01T00:00:01.000Z',
    retryAt: '1970-01-01T00:00:11.000Z',
    reason: 'unreachable',
  });
  assert.equal(outageOf({ ...provider, base_url: 'https://other.example/v1' }), undefined);
  circuitOf(provider).succeed();
  assert.equal(outageOf(provider), undefined);
});
