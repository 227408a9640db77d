import type { Duplex } from 'node:stream';
import type { Workspaces } from './workspaces.ts';

/** A program in a person's workspace, as MCP servers of transport stdio are. */
export type Program = { command: string; args: readonly string[]; env: Readonly<Record<string, string>> };

/**
 * Starts a program in the user's workspace, which it keeps running. The stream is its input and output; destroying it
 * ends the program. Throws like `Workspaces.hold`.
 */
export async function openProgram(
  workspaces: Pick<Workspaces, 'hold'>,
  userId: string,
  program: Program,
  signal: AbortSignal,
): Promise<Duplex> {
  const hold = await workspaces.hold(userId, 'exec', signal);
  try {
    const stream = await hold.daemon.upgrade('/v1/pipe', AbortSignal.any([signal, hold.signal]));
    const end = (): void => void stream.destroy();
    hold.signal.addEventListener('abort', end, { once: true });
    stream.once('close', () => {
      hold.signal.removeEventListener('abort', end);
      void hold.release();
    });
    if (hold.signal.aborted) end();
    stream.write(`${JSON.stringify(program)}\n`);
    return stream;
  } catch (error) {
    await hold.release();
    throw error;
  }
}
