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
  port: portNumber.describe('The port that the server listens on, at localhost.'),
  path: previewPath.optional().describe('The page to open, such as /admin?tab=1. Default: /.'),
});
type Input = z.infer<typeof input>;

const description = `Shows the person a web app that runs in the workspace, in a panel beside the conversation: start its server in the background with bash first.
Waits until the port answers, asks for the page once, and answers with its status and title; pages that answer with an error also with their text.
The person sees the app at an address of its own: links and requests within it should be relative, and WebSockets work. Do not tell the person to open localhost.`;

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
      const tooLate = () => new ToolFailure(`Port ${port} is open, but ${path} has not answered in 30 seconds.`);
      const limit = { clock, milliseconds: answerMs, signal, tooLate };
      return told({ port, path }, await within(limit, (own) => lookAtPort(daemon, { port, path }, own)));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ToolFailure || isDaemonLost(error)) throw error;
      if (clock.elapsed() > giveUpAt) throw await failure(daemon, port, error, signal);
    }
    await clock.sleep(pauseMs, signal);
  }
}

function told(
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
    return new ToolFailure(`What listens on port ${port} does not speak HTTP, or breaks off.`, { cause: error });
  }
  const { ports } = await daemon.call('/v1/ports', workspacePorts, { signal });
  const listed = ports.slice(0, listedMax).map((each) => `${each.port} (${each.command ?? 'unknown program'})`);
  const others = listed.length === 0 ? 'Nothing else listens either.' : `What listens: ${listed.join(', ')}.`;
  return new ToolFailure(
    `Nothing listens on port ${port}, also not after 20 seconds. ${others} Start the server with bash in the background and look at its output.`,
  );
}
