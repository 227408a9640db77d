import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { answer, bpf, buildFilter, encodeFilter, type Instruction } from './system-call-filter.ts';
import { auditNumber, hiddenCalls, judgedCalls, lastKnownCall, type Machine, refusedCalls } from './system-calls.ts';

type Call = { machine?: number; number: number; args?: number[] };

/** Runs the bytes as the kernel's interpreter would, for the few instructions that the filter uses. */
function run(program: Buffer, { machine = 0, number, args = [] }: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(machine >>> 0, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * index);
  let word = 0;
  for (let at = 0; at * 8 < program.length; at += 1) {
    const code = program.readUInt16LE(at * 8);
    const [yes, no] = [program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3)];
    const value = program.readUInt32LE(at * 8 + 4);
    if (code === bpf.load) word = data.readUInt32LE(value);
    else if (code === bpf.answer) return value;
    else if (code === bpf.jumpEqual) at += word === value ? yes : no;
    else if (code === bpf.jumpGreater) at += word > value ? yes : no;
    else if (code === bpf.jumpAnySet) at += (word & value) !== 0 ? yes : no;
    else assert.fail(`unknown instruction ${code}`);
  }
  return assert.fail('the program ran out of its end');
}

const machines: Machine[] = ['x64', 'arm64'];
const EPERM = answer.errno(1);
const ENOSYS = answer.errno(38);

for (const machine of machines) {
  const program = encodeFilter(buildFilter(machine));
  const judge = (number: number, ...args: number[]) => run(program, { machine: auditNumber[machine], number, args });
  const column = machine === 'x64' ? 1 : 2;

  test(`${machine}: every refused call is refused, every hidden call does not exist`, () => {
    for (const row of refusedCalls) {
      const number = row[column];
      if (number !== undefined) assert.equal(judge(number), EPERM, row[0]);
    }
    for (const row of hiddenCalls) assert.equal(judge(row[column] ?? -1), ENOSYS, row[0]);
  });

  test(`${machine}: every other known call is allowed`, () => {
    const listed = new Set([...refusedCalls, ...hiddenCalls].map((row) => row[column]));
    const judged = new Set(Object.values(judgedCalls).map((numbers) => numbers[machine]));
    for (let number = 0; number <= lastKnownCall; number += 1) {
      if (!listed.has(number) && !judged.has(number)) assert.equal(judge(number), answer.allow, String(number));
    }
  });

  test(`${machine}: calls of a newer kernel, of x32 and of other machines`, () => {
    assert.equal(judge(lastKnownCall + 1), ENOSYS);
    assert.equal(judge(0x3fffffff), ENOSYS);
    for (const call of [0, 165, 0x40000000 + 165, 0x40000000]) {
      if (call >= 0x40000000) assert.equal(judge(call), ENOSYS);
      for (const other of [0x40000003, 0x40000028, auditNumber[machine === 'x64' ? 'arm64' : 'x64'], 0]) {
        assert.equal(run(program, { machine: other, number: call }), answer.kill);
      }
    }
  });

  test(`${machine}: allows cloning a process and denies a new namespace`, () => {
    const clone = judgedCalls.clone[machine];
    assert.equal(judge(clone, 0x01200011), answer.allow);
    assert.equal(judge(clone, 0x003d0f00), answer.allow);
    for (const flag of [0x10000000, 0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x20000000, 0x40000000]) {
      assert.equal(judge(clone, flag + 17), EPERM, flag.toString(16));
    }
  });

  test(`${machine}: terminals are used, not fed, whatever the upper half of the request`, () => {
    const ioctl = judgedCalls.ioctl[machine];
    assert.equal(judge(ioctl, 0, 0x5401), answer.allow);
    for (const request of [0x5412, 0x541c, 0x1_0000_5412]) assert.equal(judge(ioctl, 0, request), EPERM);
  });

  test(`${machine}: sockets of the families that programs use`, () => {
    for (const call of [judgedCalls.socket[machine], judgedCalls.socketpair[machine]]) {
      for (const family of [1, 2, 10]) assert.equal(judge(call, family, 1, 0), answer.allow);
      assert.equal(judge(call, 16, 3, 0), answer.allow);
      assert.equal(judge(call, 16, 3, 12), answer.errno(93));
      for (const family of [17, 38, 40, 44]) assert.equal(judge(call, family, 1, 0), answer.errno(97));
    }
  });

  test(`${machine}: short enough for the kernel, and it ends everywhere`, () => {
    const filter: Instruction[] = buildFilter(machine);
    assert.ok(filter.length < 4096);
    for (const [index, { code, jumpTrue, jumpFalse }] of filter.entries()) {
      if (code === bpf.answer) continue;
      assert.ok(jumpTrue < 256 && jumpFalse < 256);
      assert.ok(index + 1 + Math.max(jumpTrue, jumpFalse) < filter.length);
    }
  });
}

const headers: Record<Machine, string> = {
  x64: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h',
  arm64: '/usr/include/asm-generic/unistd.h',
};

for (const machine of machines) {
  const file = headers[machine];
  test(`${machine}: the numbers are those of the kernel's headers`, {
    skip: existsSync(file) ? false : `no ${file}`,
  }, () => {
    const text = readFileSync(file, 'utf8');
    const rows = [...refusedCalls, ...hiddenCalls].map((row) => [row[0], row[machine === 'x64' ? 1 : 2]] as const);
    const all = [...rows, ...Object.entries(judgedCalls).map(([name, numbers]) => [name, numbers[machine]] as const)];
    let found = 0;
    for (const [name, number] of all) {
      if (number === undefined) continue;
      const defined = new RegExp(`#define __NR(?:3264)?_${name}\\s+(\\d+)`).exec(text)?.[1];
      if (defined === undefined) continue;
      assert.equal(Number(defined), number, name);
      found += 1;
    }
    assert.ok(found > 45, `only ${found} found`);
  });
}
