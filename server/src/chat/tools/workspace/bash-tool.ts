import { createHash } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { type ExecEvent, execAbilities, execEvent } from '@homeport/contracts/workspace/daemon';
import type { CommandEnd, CommandResult } from '@homeport/contracts/workspace/workspace-tools';
import { z } from 'zod';
import type { DaemonResponse } from '../../../egress/daemon-request.ts';
import { parseForeignJson } from '../../../platform/json/json-scan.ts';
import type { Daemon } from '../../../workspaces/daemon.ts';
import { endProcess, listBackground } from '../../../workspaces/processes.ts';
import { CommandOutput, readOnlyText, reportChanges, withReadOnlyNote } from '../command-output.ts';
import { TextLines } from '../text-lines.ts';
import { defineTool } from '../tool-input.ts';
import { type Tool, type ToolContext, ToolFailure } from '../tool-run.ts';
import { folderOfCommand } from './workspace-facts.ts';
import type { WorkspaceTurn } from './workspace-turn.ts';

const timeoutSecondsMax = 3_600;
const startMarginMs = 120_000;
const lineBytesMax = 1024 * 1024;

const input = z.object({
  command: z.string().min(1).max(100_000).optional().describe('The command, run with bash -c.'),
  timeoutSeconds: z
    .number()
    .int()
    .min(1)
    .max(timeoutSecondsMax)
    .optional()
    .describe('Kills the command and everything it started after this time. Default: 120.'),
  background: z
    .boolean()
    .optional()
    .describe(
      'True for servers and other long-running work: returns a processId immediately while the command keeps running.',
    ),
  askFirst: z
    .boolean()
    .optional()
    .describe(
      'True: asks the person before the command runs. Use it for a command that failed because it ran read-only.',
    ),
  processId: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('The id of a background command. Pass it instead of `command`.'),
  action: z.enum(['output', 'kill']).optional().describe('The action on `processId`: read its output, or kill it.'),
});
type Input = z.infer<typeof input>;
type Exit = Extract<ExecEvent, { type: 'exit' }>;

const description = `Runs a shell command in the person's workspace: a private Linux computer. Its home folder (~) is kept; /tmp is not.
Each command runs in a new shell in the home folder, so use cd within the command. There is no terminal and no standard input: pass flags such as -y.
Returns standard output and standard error combined, and the exit code. Long output is cut in the middle; the result names the full log.
Processes left running are killed when the command exits. Set background: true to keep one, then poll it with processId and action.
Run \`homeport --help\` to learn how to access the person's conversations and artifacts.`;

type Author = { name: string; email: string } | undefined;
type Of = { responseId: string; chatId: string; signal: AbortSignal; readAuthor: () => Promise<Author> };

/**
 * The shell of the workspace. `responseId` makes the ids of its commands, so that none is started twice; the
 * command-line tool means the files of `chatId` in them. The signal is the turn's. Commits carry the name of the author.
 */
export function bashTool(turn: WorkspaceTurn, { responseId, chatId, signal: ended, readAuthor }: Of): Tool {
  return defineTool({
    name: 'bash',
    description,
    input,
    effect: 'command',
    canReadOnly: () => canReadOnly(turn, ended),
    timeoutMs: timeoutSecondsMax * 1000 + startMarginMs,
    run: (given, context) => {
      turn.workedIn(folderOfCommand(given.command ?? ''));
      return turn.use(context.signal, async (daemon, signal) => {
        if (given.processId !== undefined) return onProcess(daemon, given.processId, given.action ?? 'output', signal);
        const id = execId(responseId, context.toolCallId);
        const of = { id, scope: `chat:${chatId}`, turn: responseId, author: await readAuthor() };
        return execute(daemon, of, given, { ...context, signal });
      });
    },
  });
}

/**
 * Returns true if the workspace is unavailable, since the call itself reports that. The daemon refuses commands that it
 * cannot keep from writing.
 */
async function canReadOnly(turn: WorkspaceTurn, ended: AbortSignal): Promise<boolean> {
  const ask = (daemon: Daemon, signal: AbortSignal): Promise<boolean> =>
    daemon.call('/v1/exec', execAbilities, { signal }).then(
      ({ readOnly }) => readOnly,
      () => false,
    );
  return turn.use(ended, ask).catch(() => true);
}

function execId(responseId: string, toolCallId: string): string {
  return createHash('sha256').update(`${responseId}:${toolCallId}`).digest('hex').slice(0, 16);
}

async function execute(
  daemon: Daemon,
  of: { id: string; scope: string; turn: string; author: Author },
  given: Input,
  context: ToolContext,
): Promise<string | CommandResult> {
  const { command, timeoutSeconds, background } = given;
  if (command === undefined) throw new ToolFailure('Pass a command, or the processId of a background command.');
  const timeout = timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 };
  const { signal, readOnly } = context;
  const { id } = of;
  const how = { ...timeout, ...(readOnly === undefined ? {} : { readOnly: true }) };
  const answer = await request(daemon, '/v1/exec', {
    signal,
    json: { ...of, command, background, joined: true, ...how },
  });
  const output = new CommandOutput();
  const reports = reportChanges(() => context.report(output.tail()));
  let logPath = '';
  try {
    for await (const event of readEvents(answer, signal)) {
      if (event.type === 'start') logPath = event.logPath;
      if (event.type === 'start' && background)
        return startedText(id, logPath) + (readOnly ? `\n${readOnlyText(readOnly)}` : '');
      if (event.type === 'exit') {
        return { text: withReadOnlyNote(output.read(logPath), event, readOnly), ...ended(event) };
      }
      if (event.type !== 'stdout' && event.type !== 'stderr') continue;
      output.add(event.data);
      reports.changed();
    }
  } finally {
    reports.stop();
    answer.body.destroy();
  }
  throw new ApiError('workspace_request_failed', 'The connection to the workspace was lost while the command ran');
}

async function onProcess(
  daemon: Daemon,
  id: string,
  action: 'output' | 'kill',
  signal: AbortSignal,
): Promise<CommandResult> {
  const place = `/v1/processes/${encodeURIComponent(id)}`;
  const processes = await listBackground(daemon, signal);
  const found = processes.find((process) => process.id === id);
  if (found === undefined) {
    const known = processes.map((process) => process.id);
    throw new ToolFailure(`There is no process ${id}. Background processes: ${known.join(', ') || 'none'}.`);
  }
  if (action === 'kill') await endProcess(daemon, id, signal);
  const after = Math.max(0, found.outputBytes - limits.processOutputMax);
  // After a kill its end is waited for: it comes within seconds.
  const follow = action === 'kill' ? '' : '&follow=false';
  const answer = await request(daemon, `${place}/output?after=${after}${follow}`, { signal });
  const output = new CommandOutput();
  let state: Omit<CommandResult, 'text'> = { end: { kind: 'running' } };
  try {
    for await (const event of readEvents(answer, signal)) {
      if (event.type === 'exit') state = ended(event);
      if (event.type === 'stdout' || event.type === 'stderr') output.add(event.data);
    }
  } finally {
    answer.body.destroy();
  }
  const skipped = after === 0 ? '' : `[the first ${after} bytes are in ${found.logPath}]\n`;
  return { text: skipped + output.read(found.logPath), ...state };
}

type RequestInit = { signal: AbortSignal; json?: unknown };

/** A stream of events; anything else is the daemon's refusal, in its words. */
async function request(daemon: Daemon, path: string, { signal, json }: RequestInit): Promise<DaemonResponse> {
  const body = json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) };
  const headers = json === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await daemon.request(path, { signal, headers, ...body });
  if (answer.status === 200) return answer;
  throw new ToolFailure(await readRefusal(answer));
}

async function readRefusal(answer: DaemonResponse): Promise<string> {
  let text = '';
  try {
    for await (const chunk of answer.body) {
      text += String(chunk);
      if (text.length > 64 * 1024) break;
    }
    return z.object({ error: z.object({ message: z.string().max(1000) }) }).parse(parseForeignJson(text)).error.message;
  } catch (error) {
    throw new ApiError('workspace_request_failed', 'The workspace sent an invalid response', { cause: error });
  } finally {
    answer.body.destroy();
  }
}

/** The events of an answer, each checked and bounded. */
async function* readEvents(answer: DaemonResponse, signal: AbortSignal): AsyncGenerator<ExecEvent> {
  const decoder = new TextDecoder();
  const lines = new TextLines(lineBytesMax);
  try {
    for await (const chunk of answer.body) {
      for (const line of lines.push(decoder.decode(chunk, { stream: true })))
        yield execEvent.parse(parseForeignJson(line));
      if (lines.openLength > lineBytesMax) throw new Error('a line is too long');
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new ApiError('workspace_request_failed', 'The workspace failed while the command ran', { cause: error });
  }
}

function startedText(id: string, logPath: string): string {
  return `Started in the background. processId: ${id}\nIts output goes to ${logPath}; read it with {"processId": "${id}", "action": "output"} and end it with action "kill".`;
}

function ended({ exitCode, signal, timedOut, durationMs, omittedBytes }: Exit): Omit<CommandResult, 'text'> {
  const end: CommandEnd = timedOut
    ? { kind: 'timeout' }
    : exitCode === null
      ? { kind: 'signal', signal: String(signal) }
      : { kind: 'exit', code: exitCode };
  return { end, milliseconds: durationMs, ...(omittedBytes > 0 ? { unloggedBytes: omittedBytes } : {}) };
}
