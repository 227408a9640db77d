import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditNumber, hiddenCalls, judgedCalls, lastKnownCall, type Machine, refusedCalls } from './read-only-calls.ts';
import { readOnlyFilter } from './read-only-filter.ts';

const allow = 0x7fff0000;
const errno = (code: number) => 0x00050000 | code;
const [EPERM, ENOTTY, ENOSYS] = [errno(1), errno(25), errno(38)];

/** Runs the bytes as the kernel's interpreter would, for the few instructions that the filter uses. */
function run(program: Buffer, machine: number, number: number, args: readonly number[]): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(machine >>> 0, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * index);
  let word = 0;
  for (let at = 0; at * 8 < program.length; at += 1) {
    const [code, value] = [program.readUInt16LE(at * 8), program.readUInt32LE(at * 8 + 4)];
    const isHeld = code === 0x15 ? word === value : code === 0x25 ? word > value : (word & value) !== 0;
    if (code === 0x20) word = data.readUInt32LE(value);
    else if (code === 0x54) word &= value;
    else if (code === 0x06) return value;
    else at += program.readUInt8(at * 8 + (isHeld ? 2 : 3));
  }
  return assert.fail('the program ran out of its end');
}

for (const machine of ['x64', 'arm64'] satisfies Machine[]) {
  const program = readOnlyFilter(machine);
  const judge = (number: number, ...args: number[]) => run(program, auditNumber[machine], number, args);
  const column = machine === 'x64' ? 1 : 2;

  test(`${machine}: listed calls, newer ones and those of other machines are refused, the rest is allowed`, () => {
    const refused = refusedCalls.map((row) => row[column]).filter((number) => number !== undefined);
    const hidden = hiddenCalls.map((row) => row[column]);
    for (const number of refused) assert.equal(judge(number), EPERM, String(number));
    for (const number of hidden) assert.equal(judge(number ?? -1), ENOSYS);
    for (const number of [lastKnownCall + 1, 0x40000000, 0x40000029]) assert.equal(judge(number), ENOSYS);
    assert.equal(run(program, 0x40000003, 3, []), EPERM);
    const judged: (number | undefined)[] = Object.values(judgedCalls).map((numbers) => numbers[machine]);
    for (let number = 0; number <= lastKnownCall; number += 1) {
      if (refused.includes(number) || hidden.includes(number) || judged.includes(number)) continue;
      assert.equal(judge(number), allow, String(number));
    }
    assert.equal(new Set(refused).size, refused.length);
  });

  test(`${machine}: arguments decide about opening, namespaces, requests to files and limits`, () => {
    const { openat, clone, ioctl, fcntl, prlimit64 } = judgedCalls;
    const open = (flags: number) => judge(openat[machine], 0, 0, flags);
    for (const flags of [0, 0o100, 0o2000000, 0o1001, 0o1102]) assert.equal(open(flags), allow, String(flags));
    for (const flags of [0o1000, 0o1003, 0o2001000]) assert.equal(open(flags), EPERM, String(flags));
    if (machine === 'x64') assert.deepEqual([judge(2, 0, 0), judge(2, 0, 0o1000)], [allow, EPERM]);
    assert.deepEqual([judge(clone[machine], 0x11), judge(clone[machine], 0x10000011)], [allow, EPERM]);
    // FIONREAD; FS_IOC_SETFLAGS, FICLONE, TIOCSTI.
    assert.deepEqual(
      [0x541b, 0x40086602, 0x40049409, 0x5412].map((request) => judge(ioctl[machine], 0, request)),
      [allow, ENOTTY, ENOTTY, ENOTTY],
    );
    // F_GETFL, F_SETLKW; F_SETOWN, F_SETLEASE.
    assert.deepEqual(
      [3, 7, 8, 1024].map((control) => judge(fcntl[machine], 0, control)),
      [allow, allow, EPERM, EPERM],
    );
    const limits = (pid: number, newLimit: number) => judge(prlimit64[machine], pid, 7, newLimit, 0);
    assert.deepEqual([limits(0, 1), limits(9, 0), limits(9, 1), limits(9, 2 ** 40)], [allow, allow, EPERM, EPERM]);
  });
}
