import { oneLine } from '@homeport/contracts/text/line';
import type { Progress } from '@modelcontextprotocol/client';
import type { Clock } from '../../platform/clock.ts';
import { mcpBounds } from '../bounds.ts';

/** Progress and log messages of a running call, each as one short line. */

/**
 * `3/10 · reading`, with only the members that were sent. Empty for the library's own message while the person is
 * asked.
 */
export function progressLine({ progress, total, message }: Progress): string {
  if (message?.startsWith('Fulfilling input required by')) return '';
  const count = total === undefined ? (message === undefined ? String(progress) : '') : `${progress}/${total}`;
  return joined([count, message ?? '']);
}

/** A log message; debug messages are not for people. */
export function logLine(params: unknown): string | undefined {
  if (typeof params !== 'object' || params === null) return undefined;
  const { level, data }: { level?: unknown; data?: unknown } = params;
  if (level === 'debug') return undefined;
  return joined([typeof data === 'string' ? data : (JSON.stringify(data) ?? '')]);
}

function joined(pieces: readonly string[]): string {
  const line = pieces.filter((piece) => piece !== '').join(' · ');
  return oneLine(line.slice(0, mcpBounds.progressText * 4))
    .slice(0, mcpBounds.progressText)
    .toWellFormed();
}

/** Throttle that shows the newest line at most once in `mcpBounds.progressMs` and drops those in between. */
export function throttleLines(clock: Clock, show: (line: string) => void): { push(line: string): void; end(): void } {
  let waiting: string | undefined;
  let timer: ReturnType<Clock['after']> | undefined;
  const next = (): void => {
    timer = undefined;
    if (waiting === undefined) return;
    show(waiting);
    waiting = undefined;
    timer = clock.after(mcpBounds.progressMs, next);
  };
  return {
    push(line) {
      if (line === '') return;
      waiting = line;
      if (timer === undefined) next();
    },
    end() {
      timer?.stop();
      waiting = undefined;
    },
  };
}
