import type { Clock } from '../../platform/clock.ts';
import { systemClock } from '../../platform/clock.ts';
import { mcpBounds } from '../bounds.ts';
import { createMcpFetch, type ReadToken, type TransportEvents } from './guarded-transport.ts';
import { type McpProgram, ProgramTransport } from './program-transport.ts';

/** Target of a connection; decrypted headers are kept only as long as the connection. */
export type McpTarget = {
  url: string;
  transport: 'http' | 'sse' | 'stdio';
  /** The program of transport stdio. */
  program?: (McpProgram & { command: string; args: readonly string[] }) | undefined;
  headers: Record<string, string>;
  /** The tokens of a server that one is signed in to. */
  readToken?: ReadToken;
};

/** The transport to this target, not yet started. */
export async function openTransport(
  library: typeof import('@modelcontextprotocol/client'),
  deps: { fetch: typeof fetch },
  target: McpTarget,
  events: TransportEvents,
  signal: AbortSignal,
  isBusy: () => boolean,
) {
  const { program } = target;
  if (program !== undefined) return new ProgramTransport(await program.open(signal), program.secrets, events);
  const url = new URL(target.url);
  const options = {
    requestInit: { headers: target.headers },
    fetch: createMcpFetch(deps.fetch, url.origin, events, target.readToken),
  };
  if (target.transport !== 'http') return new library.SSEClientTransport(url, options);
  const reconnectionScheduler = createReopener(systemClock, isBusy);
  return new library.StreamableHTTPClientTransport(url, { ...options, reconnectionScheduler });
}

/**
 * Opens ended streams again after the delay that the server chose (the field `retry`), within bounds. While a request
 * waits for its response, a server may end its stream as often as it likes; otherwise only a limited number of times.
 */
export function createReopener(clock: Pick<Clock, 'after'>, isBusy: () => boolean) {
  let left: number = mcpBounds.reopens;
  return (reopen: () => void, delay: number): (() => void) | undefined => {
    if (!isBusy()) {
      if (left <= 0) return undefined;
      left -= 1;
    }
    const pause = Math.min(Math.max(delay, mcpBounds.reopenMinMs), mcpBounds.reopenMaxMs);
    const timer = clock.after(pause, reopen);
    return () => timer.stop();
  };
}
