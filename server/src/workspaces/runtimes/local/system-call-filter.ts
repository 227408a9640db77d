import {
  auditNumber,
  hiddenCalls,
  judgedCalls,
  lastKnownCall,
  type Machine,
  numbersOf,
  refusedCalls,
} from './system-calls.ts';

/** One instruction of classic BPF (linux/filter.h). */
export type Instruction = { code: number; jumpTrue: number; jumpFalse: number; value: number };

// Instruction codes (linux/bpf_common.h), for 32-bit words of struct seccomp_data.
export const bpf = { load: 0x20, jumpEqual: 0x15, jumpGreater: 0x25, jumpAnySet: 0x45, answer: 0x06 } as const;
const field = { number: 0, machine: 4, argument: (index: number) => 16 + 8 * index };

export const answer = { allow: 0x7fff0000, kill: 0x80000000, errno: (code: number) => 0x00050000 | code };
const errno = { EPERM: 1, ENOSYS: 38, EPROTONOSUPPORT: 93, EAFNOSUPPORT: 97 };

const firstX32Call = 0x40000000;
// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
const namespaceFlags = 0x7e020000;
// Requests that insert input into the terminal, which its next reader would execute.
const terminalInjections = [0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */];
const socketFamilies = { any: 0, unix: 1, inet: 2, inet6: 10, netlink: 16 };

/**
 * A workspace's seccomp filter for one machine type: refuses listed calls, calls of other machine types and newer
 * kernels, new namespaces, terminal injection, and sockets other than unix, internet and route netlink.
 */
export function buildFilter(machine: Machine): Instruction[] {
  const judged = (name: keyof typeof judgedCalls): number => judgedCalls[name][machine];
  return [
    load(field.machine),
    ...unless(bpf.jumpEqual, auditNumber[machine], [give(answer.kill)]),
    load(field.number),
    ...when(bpf.jumpGreater, firstX32Call - 1, [give(answer.errno(errno.ENOSYS))]),
    ...numbersOf(refusedCalls, machine).flatMap((call) => refuse(call, errno.EPERM)),
    ...[...numbersOf(hiddenCalls, machine)].flatMap((call) => refuse(call, errno.ENOSYS)),
    ...when(bpf.jumpGreater, lastKnownCall, [give(answer.errno(errno.ENOSYS))]),
    ...when(bpf.jumpEqual, judged('clone'), [
      load(field.argument(0)),
      ...when(bpf.jumpAnySet, namespaceFlags, [give(answer.errno(errno.EPERM))]),
      give(answer.allow),
    ]),
    ...when(bpf.jumpEqual, judged('ioctl'), [
      load(field.argument(1)),
      ...terminalInjections.flatMap((request) => refuse(request, errno.EPERM)),
      give(answer.allow),
    ]),
    ...when(bpf.jumpEqual, judged('socket'), judgeSocket()),
    ...when(bpf.jumpEqual, judged('socketpair'), judgeSocket()),
    give(answer.allow),
  ];
}

/** The filter as the kernel reads it: 8 bytes each, little-endian. */
export function encodeFilter(filter: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(filter.length * 8);
  for (const [index, { code, jumpTrue, jumpFalse, value }] of filter.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}

/** Of netlink only the routing part, which lists network interfaces. */
function judgeSocket(): Instruction[] {
  const { netlink, ...plain } = socketFamilies;
  return [
    load(field.argument(0)),
    ...Object.values(plain).flatMap((family) => when(bpf.jumpEqual, family, [give(answer.allow)])),
    ...unless(bpf.jumpEqual, netlink, [give(answer.errno(errno.EAFNOSUPPORT))]),
    load(field.argument(2)),
    ...unless(bpf.jumpEqual, 0, [give(answer.errno(errno.EPROTONOSUPPORT))]),
    give(answer.allow),
  ];
}

function refuse(value: number, code: number): Instruction[] {
  return when(bpf.jumpEqual, value, [give(answer.errno(code))]);
}

function load(offset: number): Instruction {
  return { code: bpf.load, jumpTrue: 0, jumpFalse: 0, value: offset };
}

function give(value: number): Instruction {
  return { code: bpf.answer, jumpTrue: 0, jumpFalse: 0, value };
}

/** Runs `then` if the comparison with the loaded word holds, otherwise continues after it. */
function when(code: number, value: number, then: Instruction[]): Instruction[] {
  return [{ code, jumpTrue: 0, jumpFalse: then.length, value }, ...then];
}

function unless(code: number, value: number, then: Instruction[]): Instruction[] {
  return [{ code, jumpTrue: then.length, jumpFalse: 0, value }, ...then];
}
