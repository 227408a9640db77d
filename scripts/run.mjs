// Plain JavaScript for the oldest supported Node: no packages, no features newer than Node 18.
import { spawn } from 'node:child_process';

/** For `stdio`: a child's standard output goes to our standard error, because ours is read by a shell. */
export const quiet = ['inherit', 2, 'inherit'];

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'];

/**
 * Runs a command in place of this process: it shares the output and gets the signals. Resolves with its end, `{code,
 * signal}`. A terminal's Ctrl-C reaches the whole process group anyway, so it is not sent again.
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

/** Ends this process as the child ended. */
export function endLike({ code, signal }) {
  if (signal !== null) process.kill(process.pid, signal);
  process.exitCode = code ?? 1;
}
