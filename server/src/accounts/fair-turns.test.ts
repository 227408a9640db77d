import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns, type TurnLimits } from './fair-turns.ts';

const usual: TurnLimits = { atOnce: 1, waiting: 100, waitMs: 60_000 };
const patient = new AbortController().signal;

/** Turns that are held until `open`, and the order in which waiting ones got theirs. */
function crowd(limits: Partial<TurnLimits> = {}) {
  const turns = new FairTurns({ ...usual, ...limits });
  const order: string[] = [];
  let open: () => void = () => undefined;
  const holder = turns.take(
    { lane: 'holder', isKnown: false, signal: patient },
    () =>
      new Promise<void>((resolve) => {
        open = resolve;
      }),
  );
  const come = (lane: string, isKnown = false, signal = patient) =>
    turns
      .take({ lane, isKnown, signal }, async () => void order.push(lane))
      .catch((error) => String(error.code ?? error));
  return { order, come, holder, open: () => open() };
}

test('lanes take turns, however many wait in one', async () => {
  const { order, come, open } = crowd();
  const crowded = Array.from({ length: 5 }, () => come('crowded'));
  const others = [come('a'), come('b'), come('a')];
  open();
  await Promise.all([...crowded, ...others]);
  assert.deepEqual(order, ['crowded', 'a', 'b', 'crowded', 'a', 'crowded', 'crowded', 'crowded']);
});

test('the known go first, and every fourth turn is a stranger’s', async () => {
  const { order, come, open } = crowd();
  const strangers = Array.from({ length: 10 }, (_, index) => come(`s${index}`));
  const known = Array.from({ length: 5 }, () => come('known', true));
  open();
  await Promise.all([...strangers, ...known]);
  assert.deepEqual(order.slice(0, 7), ['known', 'known', 'known', 's0', 'known', 'known', 's1']);
});

test('when too many wait, the longest lane loses its newest, and the only one in its lane is taken in', async () => {
  const { order, come, open } = crowd({ waiting: 4 });
  const crowded = [come('c'), come('c'), come('c'), come('c')];
  const single = come('single');
  assert.equal(await crowded[3], 'rate_limited');
  assert.equal(await come('c'), 'rate_limited');
  open();
  await Promise.all([...crowded, single]);
  assert.deepEqual(order, ['c', 'single', 'c', 'c']);
});

test('nobody waits longer than the limit, and who leaves is not waited for', async () => {
  const { order, come, open } = crowd({ waitMs: 20 });
  assert.equal(await come('late'), 'rate_limited');
  const leaving = new AbortController();
  const left = come('left', false, leaving.signal);
  leaving.abort('gone');
  assert.equal(await left, 'gone');
  const next = come('next');
  open();
  await next;
  assert.deepEqual(order, ['next']);
});

test('work that fails gives its turn on', async () => {
  const turns = new FairTurns(usual);
  const who = { lane: 'a', isKnown: false, signal: patient };
  await assert.rejects(
    turns.take(who, () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(await turns.take(who, async () => 'yes'), 'yes');
});
