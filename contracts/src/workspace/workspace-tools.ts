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
  /** Only in polls of a background command. */
  | { kind: 'running' };

/** Output of `bash` for an ended command, or for a poll of a background command. */
export type CommandResult = {
  /** Output of the command; if too long, its middle is cut out. */
  text: string;
  end: CommandEnd;
  milliseconds?: number;
  /** Bytes that its log has no room for. */
  unloggedBytes?: number;
};

/** Validates a stored output, since it possibly comes from an imported archive or another server. */
export function isCommandResult(output: unknown): output is CommandResult {
  if (!isRecord(output) || typeof output.text !== 'string' || !isRecord(output.end)) return false;
  const { end, milliseconds, unloggedBytes } = output;
  if (![milliseconds, unloggedBytes].every((value) => value === undefined || typeof value === 'number')) return false;
  if (end.kind === 'exit') return typeof end.code === 'number';
  if (end.kind === 'signal') return typeof end.signal === 'string';
  return end.kind === 'timeout' || end.kind === 'running';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Text for models and exports, with the exit state in the last line. */
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
