import {
  auditNumber,
  hiddenCalls,
  judgedCalls,
  lastKnownCall,
  type Machine,
  numbersOf,
  refusedCalls,
} from './read-only-calls.ts';

/** One instruction of classic BPF (linux/filter.h). */
type Instruction = { code: number; jumpTrue: number; jumpFalse: number; value: number };

// Instruction codes (linux/bpf_common.h), for 32-bit words of struct seccomp_data.
const bpf = { load: 0x20, jumpEqual: 0x15, jumpGreater: 0x25, jumpAnySet: 0x45, and: 0x54, answer: 0x06 } as const;
const field = { number: 0, machine: 4, argument: (index: number) => 16 + 8 * index };
const allow = 0x7fff0000;
const errno = (code: number): number => 0x00050000 | code;
const [EPERM, ENOTTY, ENOSYS] = [errno(1), errno(25), errno(38)];

const firstX32Call = 0x40000000;
// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
const namespaceFlags = 0x7e020000;
const openFlags = { accessMode: 0o3, writeOnly: 0o1, readWrite: 0o2, truncate: 0o1000 };
/** TCGETS, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, TCGETS2: they change nothing of a file. */
const harmlessRequests = [0x5401, 0x540f, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x802c542a];
/**
 * F_SETOWN, F_SETSIG and F_SETOWN_EX send signals, F_SETLEASE and F_NOTIFY hold others up, F_SET_RW_HINT and
 * F_SET_FILE_RW_HINT change a file.
 */
const refusedControls = [8, 10, 15, 1024, 1026, 1036, 1038];

/**
 * The seccomp filter of a command that may only read, as the kernel reads it: 8 bytes each, little-endian. It covers
 * the gaps of Landlock: metadata, sockets, signals, IPC, other processes. Calls that the workspace's own filter refuses
 * stay refused, because filters add up.
 */
export function readOnlyFilter(machine: Machine): Buffer {
  const { open, openat, clone, ioctl, fcntl, prlimit64 } = judgedCalls;
  return encode([
    load(field.machine),
    ...unless(bpf.jumpEqual, auditNumber[machine], [give(EPERM)]),
    load(field.number),
    ...when(bpf.jumpGreater, firstX32Call - 1, [give(ENOSYS)]),
    ...numbersOf(refusedCalls, machine).flatMap((call) => when(bpf.jumpEqual, call, [give(EPERM)])),
    ...numbersOf(hiddenCalls, machine).flatMap((call) => when(bpf.jumpEqual, call, [give(ENOSYS)])),
    ...when(bpf.jumpGreater, lastKnownCall, [give(ENOSYS)]),
    ...judge(open[machine], refuseTruncation(1)),
    ...judge(openat[machine], refuseTruncation(2)),
    ...judge(clone[machine], [load(field.argument(0)), ...when(bpf.jumpAnySet, namespaceFlags, [give(EPERM)])]),
    ...judge(ioctl[machine], [
      load(field.argument(1)),
      ...harmlessRequests.flatMap((request) => when(bpf.jumpEqual, request, [give(allow)])),
      give(ENOTTY),
    ]),
    ...judge(fcntl[machine], [
      load(field.argument(1)),
      ...refusedControls.flatMap((control) => when(bpf.jumpEqual, control, [give(EPERM)])),
    ]),
    ...judge(prlimit64[machine], ownLimitsOnly()),
    give(allow),
  ]);
}

/** Before Landlock's third version, a file that is opened for reading can be emptied by O_TRUNC. */
function refuseTruncation(argument: number): Instruction[] {
  return [
    load(field.argument(argument)),
    ...unless(bpf.jumpAnySet, openFlags.truncate, [give(allow)]),
    { code: bpf.and, jumpTrue: 0, jumpFalse: 0, value: openFlags.accessMode },
    ...when(bpf.jumpEqual, openFlags.writeOnly, [give(allow)]),
    ...when(bpf.jumpEqual, openFlags.readWrite, [give(allow)]),
    give(EPERM),
  ];
}

/** Limits of other processes can be read, not set. */
function ownLimitsOnly(): Instruction[] {
  const isZero = (offset: number): Instruction[] => [load(offset), ...unless(bpf.jumpEqual, 0, [give(EPERM)])];
  const newLimit = field.argument(2);
  return [
    load(field.argument(0)),
    ...when(bpf.jumpEqual, 0, [give(allow)]),
    ...isZero(newLimit),
    ...isZero(newLimit + 4),
  ];
}

function judge(call: number | undefined, then: Instruction[]): Instruction[] {
  return call === undefined ? [] : when(bpf.jumpEqual, call, [...then, give(allow)]);
}

function encode(filter: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(filter.length * 8);
  for (const [index, { code, jumpTrue, jumpFalse, value }] of filter.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
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
