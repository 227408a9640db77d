import { oneLine } from '@homeport/contracts/text/line';
import type { Progress } from '@modelcontextprotocol/client';
import type { Clock } from '../../platform/clock.ts';
import { mcpBounds } from '../bounds.ts';

/** What a server says while a call runs, as one short line each. */

/** `3/10 · reading`, without what it left out. Nothing for what the library itself says while the person is asked. */
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
  return oneLine(line.slice(0, mcpBounds.saidText * 4))
    .slice(0, mcpBounds.saidText)
    .toWellFormed();
}

/** Passes the newest line on, at most once in `mcpBounds.saidMs`; those between are dropped. */
export function newestOnly(clock: Clock, show: (line: string) => void): { say(line: string): void; end(): void } {
  let waiting: string | undefined;
  let timer: ReturnType<Clock['after']> | undefined;
  const next = (): void => {
    timer = undefined;
    if (waiting === undefined) return;
    show(waiting);
    waiting = undefined;
    timer = clock.after(mcpBounds.saidMs, next);
  };
  return {
    say(line) {
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
