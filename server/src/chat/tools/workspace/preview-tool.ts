import { ApiError } from '@homeport/contracts/errors';
import { portNumber, workspacePorts } from '@homeport/contracts/workspace/daemon';
import { previewPath } from '@homeport/contracts/workspace/workspace';
import { z } from 'zod';
import type { Clock } from '../../../platform/clock.ts';
import { within } from '../../../platform/waits.ts';
import type { Daemon } from '../../../workspaces/daemon.ts';
import { lookAtPort, type PreviewLook } from '../../../workspaces/previews/preview-look.ts';
import { defineTool } from '../tool-input.ts';
import { type Tool, ToolFailure } from '../tool-run.ts';
import type { WorkspaceTurn } from './workspace-turn.ts';

/** How long a server that was just started may take to listen, and then to answer. */
const listenMs = 20_000;
const pauseMs = 300;
const answerMs = 30_000;
const listedMax = 10;

const input = z.object({
  port: portNumber.describe('The port that the server listens on, on localhost.'),
  path: previewPath.optional().describe('The page to open, such as /admin?tab=1. Default: /.'),
});
type Input = z.infer<typeof input>;

const description = `Shows the person a web app that runs in the workspace, in a panel beside the conversation. First start its server in the background with bash.
Waits until the port accepts connections, requests the page once and returns its status and title, plus its text if the status is an error.
The person sees the app at its own address: use relative links and requests. WebSockets work. Do not tell the person to open localhost.`;

/** Opens an app for the person; the model learns how it answers. */
export function previewTool(turn: WorkspaceTurn, clock: Clock): Tool {
  return defineTool({
    name: 'preview',
    description,
    input,
    effect: 'reads',
    run: (given, context) => turn.use(context.signal, (daemon, signal) => preview(daemon, given, clock, signal)),
  });
}

async function preview(daemon: Daemon, { port, path = '/' }: Input, clock: Clock, signal: AbortSignal) {
  const giveUpAt = clock.elapsed() + listenMs;
  for (;;) {
    try {
      const tooLate = () => new ToolFailure(`Port ${port} is open, but ${path} did not respond within 30 seconds.`);
      const limit = { clock, milliseconds: answerMs, signal, tooLate };
      return statusText({ port, path }, await within(limit, (own) => lookAtPort(daemon, { port, path }, own)));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ToolFailure || isDaemonLost(error)) throw error;
      if (clock.elapsed() > giveUpAt) throw await failure(daemon, port, error, signal);
    }
    await clock.sleep(pauseMs, signal);
  }
}

function statusText(
  { port, path }: { port: number; path: string },
  { status, contentType, title, location, text }: PreviewLook,
) {
  return {
    port,
    path,
    status,
    ...(title ? { title } : {}),
    ...(contentType === undefined ? {} : { contentType }),
    ...(location === undefined ? {} : { location }),
    ...(status < 400 || !text ? {} : { text }),
  };
}

function isDaemonLost(error: unknown): boolean {
  return error instanceof ApiError && error.code !== 'not_found' && error.code !== 'rate_limited';
}

async function failure(daemon: Daemon, port: number, error: unknown, signal: AbortSignal): Promise<ToolFailure> {
  if (!(error instanceof ApiError) || error.code !== 'not_found') {
    return new ToolFailure(`The program on port ${port} does not speak HTTP or closed the connection.`, {
      cause: error,
    });
  }
  const { ports } = await daemon.call('/v1/ports', workspacePorts, { signal });
  const listed = ports.slice(0, listedMax).map((each) => `${each.port} (${each.command ?? 'unknown program'})`);
  const others = listed.length === 0 ? 'No other port is open.' : `Open ports: ${listed.join(', ')}.`;
  return new ToolFailure(
    `Nothing listens on port ${port}, even after 20 seconds. ${others} Start the server with bash in the background and check its output.`,
  );
}
