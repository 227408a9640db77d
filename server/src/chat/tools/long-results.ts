import { createHash } from 'node:crypto';
import { workspaceEntry } from '@homeport/contracts/workspace/daemon';
import { z } from 'zod';
import { systemClock } from '../../platform/clock.ts';
import { within } from '../../platform/waits.ts';
import { CommandOutput } from './command-output.ts';
import { type Tool, ToolAnswer, type ToolContext } from './tool-run.ts';
import type { WorkspaceTurn } from './workspace/workspace-turn.ts';

/** As much as models are given of a command's output. */
const shownMax = 32 * 1024;
/** How long a workspace that has to start first is waited for. */
const keepMs = 120_000;
const written = z.object({ entry: workspaceEntry });

/**
 * These tools, whose long results (over 32 KiB of text) are written whole to a file of the workspace, beside the logs
 * of commands and swept with them. The model gets the beginning, the end, and the path.
 */
export function keepLongResults(tools: readonly Tool[], turn: WorkspaceTurn, responseId: string): Tool[] {
  return tools.map((tool) => ({
    ...tool,
    async execute(input, context) {
      const answer = await tool.execute(input, context);
      const text = wholeText(answer);
      if (text === undefined) return answer;
      const short = await shortened(turn, text, fileOf(responseId, context.toolCallId), context);
      if (short === undefined) return answer;
      return answer instanceof ToolAnswer ? new ToolAnswer(short, answer.files, undefined, answer.pictures) : short;
    },
  }));
}

/** The text of a result that is too long to be given whole; JSON in lines, so that it can be read in parts. */
function wholeText(answer: unknown): string | undefined {
  const output = answer instanceof ToolAnswer ? (answer.whole ?? answer.output) : answer;
  const text = typeof output === 'string' ? output : JSON.stringify(output ?? null, null, 1);
  return text.length > shownMax || Buffer.byteLength(text) > shownMax ? text : undefined;
}

function fileOf(responseId: string, toolCallId: string): string {
  const name = createHash('sha256').update(`${responseId}:${toolCallId}`).digest('hex').slice(0, 16);
  return `~/.workspace/exec/${name}.log`;
}

/** Undefined when the file cannot be written: the result then stays as it was. */
async function shortened(
  turn: WorkspaceTurn,
  text: string,
  path: string,
  { signal }: ToolContext,
): Promise<string | undefined> {
  const place = `/v1/files/content?path=${encodeURIComponent(path)}&onConflict=replace`;
  const headers = { 'content-type': 'application/octet-stream' };
  const body = Buffer.from(text);
  const tooLate = (): Error => new Error('The workspace takes too long.');
  try {
    await within({ clock: systemClock, milliseconds: keepMs, signal, tooLate }, (limit) =>
      turn.use(limit, (daemon, own) => daemon.call(place, written, { method: 'PUT', headers, body, signal: own })),
    );
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
  const output = new CommandOutput();
  output.add(text);
  return output.read(path);
}
