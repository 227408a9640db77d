/** Machine types whose system calls are known here. */
export type Machine = 'x64' | 'arm64';

/** How the kernel names a machine to a filter (linux/audit.h). */
export const auditNumber: Record<Machine, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** The newest call considered for these lists; later ones are answered as by an older kernel. */
export const lastKnownCall = 469;

/** `[name, x64, arm64]`; undefined if the machine type lacks it. */
type Row = readonly [name: string, x64: number | undefined, arm64: number | undefined];

/** Changes of files that Landlock doesn't cover, and those that it covers, as a second line. */
const fileChanges: readonly Row[] = [
  ['chmod', 90, undefined],
  ['fchmod', 91, 52],
  ['fchmodat', 268, 53],
  ['fchmodat2', 452, 452],
  ['chown', 92, undefined],
  ['fchown', 93, 55],
  ['lchown', 94, undefined],
  ['fchownat', 260, 54],
  ['utime', 132, undefined],
  ['utimes', 235, undefined],
  ['futimesat', 261, undefined],
  ['utimensat', 280, 88],
  ['setxattr', 188, 5],
  ['lsetxattr', 189, 6],
  ['fsetxattr', 190, 7],
  ['setxattrat', 463, 463],
  ['removexattr', 197, 14],
  ['lremovexattr', 198, 15],
  ['fremovexattr', 199, 16],
  ['removexattrat', 466, 466],
  ['file_setattr', 469, 469],
  ['truncate', 76, 45],
  ['mknod', 133, undefined],
  ['mknodat', 259, 33],
  ['link', 86, undefined],
  ['linkat', 265, 37],
  ['symlink', 88, undefined],
  ['symlinkat', 266, 36],
  ['rename', 82, undefined],
  ['renameat', 264, 38],
  ['renameat2', 316, 276],
  ['unlink', 87, undefined],
  ['unlinkat', 263, 35],
  ['rmdir', 84, undefined],
  ['mkdir', 83, undefined],
  ['mkdirat', 258, 34],
  ['open_by_handle_at', 304, 265],
  ['flock', 73, 32],
];

/** Connections of every family, to the network and to other processes. */
const connections: readonly Row[] = [
  ['socket', 41, 198],
  ['socketpair', 53, 199],
  ['connect', 42, 203],
  ['bind', 49, 200],
  ['shmget', 29, 194],
  ['shmat', 30, 196],
  ['shmctl', 31, 195],
  ['semget', 64, 190],
  ['semop', 65, 193],
  ['semtimedop', 220, 192],
  ['semctl', 66, 191],
  ['msgget', 68, 186],
  ['msgsnd', 69, 189],
  ['msgrcv', 70, 188],
  ['msgctl', 71, 187],
  ['mq_open', 240, 180],
  ['mq_unlink', 241, 181],
  ['add_key', 248, 217],
  ['request_key', 249, 218],
  ['keyctl', 250, 219],
];

/** Effects on other processes of the same user: signals, memory, descriptors, priorities. */
const otherProcesses: readonly Row[] = [
  ['kill', 62, 129],
  ['tkill', 200, 130],
  ['tgkill', 234, 131],
  ['rt_sigqueueinfo', 129, 138],
  ['rt_tgsigqueueinfo', 297, 240],
  ['pidfd_send_signal', 424, 424],
  ['ptrace', 101, 117],
  ['process_vm_readv', 310, 270],
  ['process_vm_writev', 311, 271],
  ['process_madvise', 440, 440],
  ['process_mrelease', 448, 448],
  ['pidfd_getfd', 438, 438],
  ['kcmp', 312, 272],
  ['setpriority', 141, 140],
  ['sched_setparam', 142, 118],
  ['sched_setscheduler', 144, 119],
  ['sched_setattr', 314, 274],
  ['sched_setaffinity', 203, 122],
  ['ioprio_set', 251, 30],
  ['migrate_pages', 256, 238],
  ['move_pages', 279, 239],
];

/** Other views of the machine, its clock and name, and parts of the kernel that reading doesn't need. */
const kernelParts: readonly Row[] = [
  ['unshare', 272, 97],
  ['setns', 308, 268],
  ['mount', 165, 40],
  ['umount2', 166, 39],
  ['pivot_root', 155, 41],
  ['chroot', 161, 51],
  ['bpf', 321, 280],
  ['perf_event_open', 298, 241],
  ['userfaultfd', 323, 282],
  ['fanotify_init', 300, 262],
  ['clock_settime', 227, 112],
  ['settimeofday', 164, 170],
  ['adjtimex', 159, 171],
  ['clock_adjtime', 305, 266],
  ['sethostname', 170, 161],
  ['setdomainname', 171, 162],
  ['reboot', 169, 142],
  ['swapon', 167, 224],
  ['swapoff', 168, 225],
  ['kexec_load', 246, 104],
  ['kexec_file_load', 320, 294],
  ['init_module', 175, 105],
  ['finit_module', 313, 273],
  ['delete_module', 176, 106],
  ['acct', 163, 89],
  ['quotactl', 179, 60],
  ['syslog', 103, 116],
  ['iopl', 172, undefined],
  ['ioperm', 173, undefined],
  ['vhangup', 153, 58],
  ['open_tree', 428, 428],
  ['move_mount', 429, 429],
  ['fsopen', 430, 430],
  ['fsconfig', 431, 431],
  ['fsmount', 432, 432],
  ['fspick', 433, 433],
  ['mount_setattr', 442, 442],
  ['quotactl_fd', 443, 443],
  ['open_tree_attr', 467, 467],
];

export const refusedCalls: readonly Row[] = [...fileChanges, ...connections, ...otherProcesses, ...kernelParts];

/** Answered with ENOSYS, so that libraries fall back to calls whose arguments a filter can see. */
export const hiddenCalls: readonly Row[] = [
  ['clone3', 435, 435],
  ['openat2', 437, 437],
  ['io_uring_setup', 425, 425],
  ['io_uring_enter', 426, 426],
  ['io_uring_register', 427, 427],
];

/** Calls whose arguments are checked; `open` is missing on arm64. */
export const judgedCalls = {
  open: { x64: 2, arm64: undefined },
  openat: { x64: 257, arm64: 56 },
  clone: { x64: 56, arm64: 220 },
  ioctl: { x64: 16, arm64: 29 },
  fcntl: { x64: 72, arm64: 25 },
  prlimit64: { x64: 302, arm64: 261 },
} as const satisfies Record<string, Record<Machine, number | undefined>>;

/** Calls that the supervisor makes itself, through Perl. */
export const ownCalls: Record<Machine, { openat: number; setsid: number }> = {
  x64: { openat: 257, setsid: 112 },
  arm64: { openat: 56, setsid: 157 },
};

/** The numbers of these calls on one machine. */
export function numbersOf(rows: readonly Row[], machine: Machine): number[] {
  return rows.map(([, x64, arm64]) => (machine === 'x64' ? x64 : arm64)).filter((number) => number !== undefined);
}
