import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScrollPin } from './scroll-pin.ts';

const at = (scrollTop: number, scrollHeight = 2000) => ({ scrollTop, scrollHeight, clientHeight: 500 });

test('follows growth while pinned', () => {
  const pin = new ScrollPin();
  pin.scroll(at(1500));
  assert.equal(pin.grow(at(1500, 2400)), true);
});

test("unpins on an upward scroll, and doesn't pull back on growth", () => {
  const pin = new ScrollPin();
  pin.scroll(at(1500));
  pin.moveUp(at(1500));
  assert.equal(pin.state.isPinned, false);
  assert.equal(pin.grow(at(1490, 2400)), false);
});

test('dragging the scroll bar upwards unpins, without a wheel or key', () => {
  const pin = new ScrollPin();
  pin.scroll(at(1500));
  assert.equal(pin.scroll(at(1400)).isPinned, false);
});

test("doesn't take shrinking content for an upward scroll", () => {
  const pin = new ScrollPin();
  pin.scroll(at(1500));
  assert.equal(pin.scroll(at(1300, 1800)).isPinned, true);
});

test('pins again at the end, but not before it', () => {
  const pin = new ScrollPin();
  pin.scroll(at(1500));
  pin.scroll(at(1000));
  assert.equal(pin.scroll(at(1400)).isPinned, false);
  assert.equal(pin.scroll(at(1490)).isPinned, true);
});

test('the jump button appears beyond 200 px and leaves below 60 px', () => {
  const pin = new ScrollPin();
  pin.scroll(at(1500));
  assert.equal(pin.scroll(at(1350)).showsJump, false);
  assert.equal(pin.scroll(at(1250)).showsJump, true);
  assert.equal(pin.scroll(at(1400)).showsJump, true);
  assert.equal(pin.scroll(at(1450)).showsJump, false);
});

test('a thread that fits its window stays pinned', () => {
  const pin = new ScrollPin();
  pin.moveUp({ scrollTop: 0, scrollHeight: 400, clientHeight: 500 });
  assert.equal(pin.state.isPinned, true);
});
