import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { execEvent, type ProcessState, processState } from '@homeport/contracts/workspace/daemon';
import type { WorkspaceProcess } from '@homeport/contracts/workspace/workspace';
import { z } from 'zod';
import { parseForeignJson } from '../platform/json/json-scan.ts';
import type { Daemon } from './daemon.ts';
import { readRefusal } from './daemon-client.ts';
import { plainOutput } from './plain-output.ts';

/** Background commands of a workspace, listed by its daemon: started by models, visible to models and to the owner. */

const list = z.object({ processes: processState.array().max(1000) });
const one = z.object({ process: processState });
/** Limit of an output that is read: its end, and output produced while it was read. */
const readMax = 8 * limits.processOutputMax;

/** The newest first. Running ones, and those that ended in the last five minutes. */
export async function listBackground(daemon: Daemon, signal: AbortSignal): Promise<ProcessState[]> {
  const { processes } = await daemon.call('/v1/processes', list, { signal });
  return processes.filter(({ background }) => background).toReversed();
}

/** Ends a command with everything it started, by force after two seconds. */
export async function endProcess(daemon: Daemon, id: string, signal: AbortSignal): Promise<ProcessState> {
  const place = `/v1/processes/${encodeURIComponent(id)}/signal`;
  return (await daemon.call(place, one, { json: { signal: 'SIGTERM' }, signal })).process;
}

/** The end of a command's output, from the beginning of a line where there is one. */
export async function readOutputEnd(
  daemon: Daemon,
  { id, outputBytes }: ProcessState,
  signal: AbortSignal,
): Promise<{ output: string; skippedBytes: number }> {
  const after = Math.max(0, outputBytes - limits.processOutputMax);
  const place = `/v1/processes/${encodeURIComponent(id)}/output?after=${after}&follow=false`;
  const answer = await daemon.request(place, { signal });
  if (answer.status !== 200) throw await readRefusal(answer, signal);
  const decoder = new TextDecoder();
  let lines = '';
  try {
    for await (const chunk of answer.body) {
      lines += decoder.decode(chunk, { stream: true });
      if (lines.length > readMax) break;
    }
    const events = lines.slice(0, lines.lastIndexOf('\n')).split('\n').map(parseEvent);
    const collected = events.map((event) => ('data' in event ? event.data : '')).join('');
    const from = after === 0 ? 0 : collected.indexOf('\n') + 1;
    const text = collected.slice(from);
    const end = plainOutput(text).slice(-limits.processOutputMax).toWellFormed();
    return { output: end, skippedBytes: after + Buffer.byteLength(collected.slice(0, from)) };
  } catch (error) {
    signal.throwIfAborted();
    throw new ApiError('workspace_request_failed', 'The workspace sent an invalid response', { cause: error });
  } finally {
    answer.body.destroy();
  }
}

function parseEvent(line: string) {
  return execEvent.parse(parseForeignJson(line));
}

/** As its owner sees it. */
export function shownProcess({ pid: _, background: __, ...shown }: ProcessState): WorkspaceProcess {
  return shown;
}
