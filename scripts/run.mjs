// Plain JavaScript for the oldest Node that may start us: no packages, nothing newer than Node 18.
import { spawn } from 'node:child_process';

/** For `stdio`: what a child says on its standard output goes to our standard error, as ours is an answer to a shell. */
export const quiet = ['inherit', 2, 'inherit'];

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'];

/**
 * Runs a command in our place: its output is ours, it gets our signals, and `{code, signal}` is how it ended.
 * A Ctrl-C in a terminal reaches the whole process group by itself, so it is not sent a second time.
 */
export function run(command, args, options = {}) {
  const child = spawn(command, args, { stdio: 'inherit', ...options });
  const forward = (signal) => {
    if (signal === 'SIGINT' && process.stdin.isTTY) return;
    child.kill(signal);
  };
  for (const signal of forwarded) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  }).finally(() => {
    for (const signal of forwarded) process.removeListener(signal, forward);
  });
}

/** Ends this process the way the child ended. */
export function endLike({ code, signal }) {
  if (signal !== null) process.kill(process.pid, signal);
  process.exitCode = code ?? 1;
}
