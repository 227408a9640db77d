import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

type Stdio = 'ignore' | 'pipe' | number;

// O_CLOEXEC on x64 and arm64. Node sets it on all descriptors it opens, and on the first sixteen that it inherits.
const closeOnExec = 0o2000000;

/**
 * Closes descriptors that our parent left open and that our children would inherit: a script's locks, folders of the
 * machine. Descriptors opened by Node's own threads look the same, so call it before TLS is loaded.
 */
export function closeInherited(): void {
  for (const descriptor of listInheritable()) closeSync(descriptor);
}

/**
 * A child's descriptors, with nothing at every other number that it would inherit. Call `close` once it has started.
 */
export function sealed(given: Stdio[]): { stdio: Stdio[]; close(): void } {
  const leaking = listInheritable().filter((descriptor) => descriptor >= given.length);
  if (leaking.length === 0) return { stdio: given, close: () => undefined };
  const nothing = openSync('/dev/null', 'r');
  const whole = Array.from({ length: Math.max(...leaking) + 1 }, (_, index) => given[index] ?? 'ignore');
  return {
    stdio: whole.map((entry, index) => (leaking.includes(index) ? nothing : entry)),
    close: () => closeSync(nothing),
  };
}

/** Descriptors above the standard three that a child would inherit; none if the system does not list them. */
function listInheritable(): number[] {
  if (process.platform !== 'linux') return [];
  const open = readdirSync('/proc/self/fdinfo').map(Number);
  return open.filter((descriptor) => descriptor > 2 && isInheritable(descriptor));
}

function isInheritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // The descriptor of the listing itself is closed by now.
    return false;
  }
}
