/** Machine types whose system calls are known here. */
export type Machine = 'x64' | 'arm64';

/** How the kernel names a machine to a filter (linux/audit.h). */
export const auditNumber: Record<Machine, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** The newest call considered for this list; later ones are answered as by an older kernel. */
export const lastKnownCall = 469;

/** Calls that no workspace needs: `[name, x64, arm64]`, undefined if the machine type lacks it. */
type Row = readonly [name: string, x64: number | undefined, arm64: number | undefined];

/**
 * Refused with EPERM: they change mounts, namespaces, the kernel or the clock, or reach into error-prone parts of the
 * kernel.
 */
export const refusedCalls: readonly Row[] = [
  ['mount', 165, 40],
  ['umount2', 166, 39],
  ['pivot_root', 155, 41],
  ['chroot', 161, 51],
  ['open_tree', 428, 428],
  ['move_mount', 429, 429],
  ['fsopen', 430, 430],
  ['fsconfig', 431, 431],
  ['fsmount', 432, 432],
  ['fspick', 433, 433],
  ['mount_setattr', 442, 442],
  ['open_tree_attr', 467, 467],
  ['unshare', 272, 97],
  ['setns', 308, 268],
  ['bpf', 321, 280],
  ['perf_event_open', 298, 241],
  ['userfaultfd', 323, 282],
  ['add_key', 248, 217],
  ['request_key', 249, 218],
  ['keyctl', 250, 219],
  ['kexec_load', 246, 104],
  ['kexec_file_load', 320, 294],
  ['init_module', 175, 105],
  ['finit_module', 313, 273],
  ['delete_module', 176, 106],
  ['create_module', 174, undefined],
  ['get_kernel_syms', 177, undefined],
  ['query_module', 178, undefined],
  ['nfsservctl', 180, 42],
  ['acct', 163, 89],
  ['swapon', 167, 224],
  ['swapoff', 168, 225],
  ['reboot', 169, 142],
  ['sethostname', 170, 161],
  ['setdomainname', 171, 162],
  ['settimeofday', 164, 170],
  ['clock_settime', 227, 112],
  ['iopl', 172, undefined],
  ['ioperm', 173, undefined],
  ['modify_ldt', 154, undefined],
  ['vhangup', 153, 58],
  ['syslog', 103, 116],
  ['quotactl', 179, 60],
  ['quotactl_fd', 443, 443],
  ['lookup_dcookie', 212, 18],
  ['name_to_handle_at', 303, 264],
  ['open_by_handle_at', 304, 265],
  ['fanotify_init', 300, 262],
  ['kcmp', 312, 272],
  ['pidfd_getfd', 438, 438],
  ['uselib', 134, undefined],
  ['sysfs', 139, undefined],
  ['_sysctl', 156, undefined],
  ['migrate_pages', 256, 238],
  ['move_pages', 279, 239],
];

/** Answered with ENOSYS, so that libraries fall back: a filter cannot see the arguments of clone3 and io_uring. */
export const hiddenCalls: readonly Row[] = [
  ['clone3', 435, 435],
  ['io_uring_setup', 425, 425],
  ['io_uring_enter', 426, 426],
  ['io_uring_register', 427, 427],
];

/** Calls whose arguments are checked. */
export const judgedCalls: Record<'clone' | 'ioctl' | 'socket' | 'socketpair', Record<Machine, number>> = {
  clone: { x64: 56, arm64: 220 },
  ioctl: { x64: 16, arm64: 29 },
  socket: { x64: 41, arm64: 198 },
  socketpair: { x64: 53, arm64: 199 },
};

/** The numbers of these calls on one machine. */
export function numbersOf(rows: readonly Row[], machine: Machine): number[] {
  return rows.map(([, x64, arm64]) => (machine === 'x64' ? x64 : arm64)).filter((number) => number !== undefined);
}
