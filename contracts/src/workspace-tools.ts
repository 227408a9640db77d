/** The tools of a workspace that a rule can name, as models call them, and `delegate`, which works with them. */
export const workspaceTools = [
  'bash',
  'read_file',
  'write_file',
  'edit_file',
  'list_files',
  'search_files',
  'publish_artifact',
  'preview',
  'delegate',
] as const;
export type WorkspaceTool = (typeof workspaceTools)[number];

export type CommandEnd =
  | { kind: 'exit'; code: number }
  | { kind: 'signal'; signal: string }
  | { kind: 'timeout' }
  /** Of a background command that was only looked at. */
  | { kind: 'running' };

/** The output of `bash` for a command that has ended, or was looked at in the background. */
export type CommandResult = {
  /** What the command wrote, cut in the middle when it was long. */
  text: string;
  end: CommandEnd;
  milliseconds?: number;
  /** Bytes that its log has no room for. */
  unloggedBytes?: number;
};

export function isCommandResult(output: unknown): output is CommandResult {
  if (typeof output !== 'object' || output === null || !('text' in output) || !('end' in output)) return false;
  const { text, end } = output;
  return typeof text === 'string' && typeof end === 'object' && end !== null && 'kind' in end;
}

/** As models and exports read it: how it ended is in the last line. */
export function commandText({ text, end, milliseconds, unloggedBytes }: CommandResult): string {
  const seconds =
    milliseconds === undefined ? [] : [`${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 0)} s`];
  const log = unloggedBytes === undefined ? [] : [`the log is full: ${unloggedBytes} bytes are not in it`];
  const line = `[${[endText(end), ...seconds, ...log].join(', ')}]`;
  return text === '' || text.endsWith('\n') ? text + line : `${text}\n${line}`;
}

function endText(end: CommandEnd): string {
  if (end.kind === 'exit') return `exit code ${end.code}`;
  if (end.kind === 'signal') return `ended by ${end.signal}`;
  return end.kind === 'timeout' ? 'timed out and was killed' : 'still running';
}
