import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { joinStreams } from './join-streams.ts';

/** A connection as two ends: bytes written to one can be read from the other. */
function pair(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  const make = (at: number, other: number) =>
    new Duplex({
      highWaterMark: 1024,
      read() {
        resume[at]?.();
        resume[at] = undefined;
      },
      write(chunk, _encoding, done) {
        if (ends[other]?.push(chunk) === true) return done();
        resume[other] = done;
      },
      final(done) {
        ends[other]?.push(null);
        done();
      },
    });
  const resume: ((() => void) | undefined)[] = [];
  ends.push(make(0, 1), make(1, 0));
  return ends as [Duplex, Duplex];
}

function joined(signal = new AbortController().signal) {
  const [browser, ours] = pair();
  const [daemon, theirs] = pair();
  let traffic = 0;
  const over = joinStreams(ours, theirs, () => void traffic++, signal);
  return { browser, daemon, over, traffic: () => traffic };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('counts bytes as use, but not single pings and pongs', async () => {
  const { browser, daemon, traffic } = joined();
  browser.resume();
  daemon.write(Buffer.from([0x89, 0x00]));
  await settled();
  browser.write(Buffer.from([0x8a, 0x80, 1, 2, 3, 4]));
  await settled();
  assert.equal(traffic(), 0);
  browser.write(Buffer.from([0x82, 0x81, 1, 2, 3, 4, 5]));
  daemon.resume();
  await settled();
  assert.equal(traffic(), 1);
});

test('stops writing to a side that does not read', async () => {
  const { browser, daemon } = joined();
  let rounds = 0;
  while (!daemon.writableNeedDrain) {
    daemon.write(Buffer.alloc(1024));
    await settled();
    rounds += 1;
    assert.ok(rounds < 100, 'it piles up somewhere');
  }
  browser.resume();
  await once(daemon, 'drain');
});

test('ends both sides at once on abort', async () => {
  const end = new AbortController();
  const { over } = joined(end.signal);
  end.abort();
  await over;
});
