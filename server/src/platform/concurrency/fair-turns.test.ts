import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/fakes/manual-clock.ts';
import { FairTurns, type TurnLimits } from './fair-turns.ts';

const usual: TurnLimits = { atOnce: 1, waiting: 100, waitMs: 60_000, busy: 'Too many at once.' };
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
  assert.deepEqual(order, ['b', 'crowded', 'a', 'crowded', 'a', 'crowded', 'crowded', 'crowded']);
});

/**
 * Attempts that take `turnMs` each, two at once, on a clock that only moves when one ends. `guessing` networks send
 * their next guess as soon as the last one was answered; resolves with the visitor's wait.
 */
async function visitorWaits(options: { networks: number; burst: number; warmUpMs: number; account: string }) {
  const turnMs = 300;
  const clock = new ManualClock();
  const turns = new FairTurns({ atOnce: 2, waiting: 1_000, waitMs: 50_000 }, clock);
  const work = () => clock.sleep(turnMs);
  const begun = clock.elapsed();
  let isOver = false;
  const guess = async (network: number): Promise<void> => {
    while (!isOver) {
      const who = { lane: `network ${network}`, isKnown: false, signal: patient, target: 'guessed' };
      await turns.take(who, work).catch(() => clock.sleep(5_000));
    }
  };
  for (let index = 0; index < options.burst; index += 1) void guess(index % options.networks);
  const pass = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds && !isOver; passed += turnMs / 2) {
      clock.advance(turnMs / 2);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await pass(options.warmUpMs);
  const came = clock.elapsed() - begun;
  const visitor = turns
    .take({ lane: 'visitor', isKnown: false, signal: patient, target: options.account }, work)
    .finally(() => {
      isOver = true;
    });
  void pass(120_000);
  await visitor;
  return clock.elapsed() - begun - came;
}

const attacks = [
  { networks: 200, burst: 260, warmUpMs: 0, account: 'guessed' },
  { networks: 200, burst: 260, warmUpMs: 3_000, account: 'guessed' },
  { networks: 200, burst: 260, warmUpMs: 3_000, account: 'other' },
  { networks: 200, burst: 1_000, warmUpMs: 120_000, account: 'guessed' },
  { networks: 900, burst: 900, warmUpMs: 120_000, account: 'guessed' },
  { networks: 1_500, burst: 1_500, warmUpMs: 60_000, account: 'other' },
];
for (const attack of attacks) {
  const { networks, burst, warmUpMs, account } = attack;
  const name = `${burst} guesses from ${networks} networks, after ${warmUpMs / 1000} s, at the ${account} account`;
  test(`an unknown visitor waits at most 10 s: ${name}`, async () => {
    const waited = await visitorWaits(attack);
    assert.ok(waited <= 10_000, `${waited} ms`);
  });
}

test('unknown lanes with equally many turns go newest and oldest alternately', async () => {
  const { order, come, open } = crowd();
  const waiting = ['a', 'b', 'c', 'd'].map((lane) => come(lane));
  open();
  await Promise.all(waiting);
  assert.deepEqual(order, ['d', 'a', 'c', 'b']);
});

test('a turn is forgotten after twenty minutes', async () => {
  const clock = new ManualClock();
  const turns = new FairTurns(usual, clock);
  const order: string[] = [];
  const come = (lane: string) =>
    turns.take({ lane, isKnown: false, signal: patient }, async () => void order.push(lane));
  const hold = async (lanes: string[]) => {
    order.length = 0;
    let open = () => {};
    const held = new Promise<void>((resolve) => {
      open = resolve;
    });
    const holder = turns.take({ lane: 'holder', isKnown: true, signal: patient }, () => held);
    const waiting = lanes.map(come);
    open();
    await Promise.all([holder, ...waiting]);
    return order;
  };
  await come('busy');
  assert.deepEqual(await hold(['x', 'busy']), ['x', 'busy']);
  clock.advance(20 * 60_000 + 1);
  assert.deepEqual(await hold(['y', 'busy']), ['busy', 'y']);
});

test('serves known clients first, and an unknown one every fourth turn', async () => {
  const { order, come, open } = crowd();
  const strangers = Array.from({ length: 10 }, (_, index) => come(`s${index}`));
  const known = Array.from({ length: 5 }, () => come('known', true));
  open();
  await Promise.all([...strangers, ...known]);
  assert.deepEqual(order.slice(0, 7), ['known', 'known', 'known', 's9', 'known', 'known', 's0']);
});

test('when too many wait, the longest lane loses its newest, and the only one in its lane is taken in', async () => {
  const { order, come, open } = crowd({ waiting: 4 });
  const crowded = [come('c'), come('c'), come('c'), come('c')];
  const single = come('single');
  assert.equal(await crowded[3], 'rate_limited');
  assert.equal(await come('c'), 'rate_limited');
  open();
  await Promise.all([...crowded, single]);
  assert.deepEqual(order, ['single', 'c', 'c', 'c']);
});

test('rejects after the wait limit, and skips waiters that were aborted', async () => {
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

test('a lane has its own number of turns at once, and the lane that waits longest is next', async () => {
  const turns = new FairTurns({ atOnce: 2, perLane: 1, waiting: 100, busy: 'Too many at once.' });
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const come = (lane: string) =>
    turns.take({ lane, isKnown: true, signal: patient }, () => {
      order.push(lane);
      return new Promise<void>((resolve) => void ends.push(resolve));
    });
  const all = [come('a'), come('a'), come('a'), come('b'), come('c'), come('d')];
  assert.deepEqual(order, ['a', 'b']);
  for (const _ of all) {
    ends.shift()?.();
    // The next turn begins after the promises of the one that ended.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(all);
  assert.deepEqual(order, ['a', 'b', 'c', 'd', 'a', 'a']);
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
