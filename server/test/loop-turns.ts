const everyMs = 5;

/**
 * The longest time between two turns of a timer, in CPU time of this thread: waiting while other programs use the core
 * doesn't count as blocking.
 */
export function watchTurns(): { stop(): number } {
  let longest = 0;
  let before = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    before = process.threadCpuUsage();
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      return longest;
    },
  };
}
