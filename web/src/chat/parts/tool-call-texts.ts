import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import { type CommandEnd, isCommandResult, type WorkspaceTool } from '@homeport/contracts/workspace/workspace-tools';
import type { TextId, Translate } from '../../i18n/i18n.ts';
import { toolTitle } from '../../mcp/tools/tool-title.ts';
import { textOf } from '../../workspace/tool-output.ts';

/** Texts of a tool call's row. */
export type ToolCallTexts = {
  title: string;
  /** Subject of the call if the title doesn't contain it: a command, a search. */
  subject: string | undefined;
  /** State of the call, if the title doesn't contain it. */
  state: string | undefined;
  /** Duration reported by the tool, in seconds. */
  seconds: number | undefined;
  isRunning: boolean;
  isFailed: boolean;
};

/** The workspace's own tools. */
const ownTools = {
  bash: 'tool.own.bash',
  read_file: 'tool.own.read',
  write_file: 'tool.own.write',
  edit_file: 'tool.own.edit',
  list_files: 'tool.own.list',
  search_files: 'tool.own.search',
  publish_artifact: 'tool.own.publish',
  preview: 'tool.own.preview',
  delegate: 'tool.own.delegate',
} as const satisfies Record<WorkspaceTool, TextId>;

/** The argument beside the title, by tool. */
const subjects: Readonly<Record<string, string>> = {
  bash: 'command',
  search_files: 'pattern',
  list_files: 'path',
  delegate: 'task',
  web_search: 'query',
  read_page: 'url',
  write_report: 'title',
};

export function isOwnTool(name: string): name is keyof typeof ownTools {
  return Object.hasOwn(ownTools, name);
}

export function isLongRunning(tool: DynamicToolPart): boolean {
  return tool.preliminary === true || ['input-streaming', 'input-available', 'approval-responded'].includes(tool.state);
}

export function toolCallTexts(part: DynamicToolPart, isLive: boolean, t: Translate): ToolCallTexts {
  const isRunning = isLive && isLongRunning(part);
  const { toolName, input, state } = part;
  const common = { subject: undefined, seconds: undefined, isRunning, isFailed: state === 'output-error' };
  if (toolName === 'plan') {
    return { ...common, title: t('tool.own.plan', { phase: phaseOf(isRunning, state) }), state: undefined };
  }
  if (!isOwnTool(toolName)) {
    const { server, tool } = toolTitle(toolName);
    const title = server === undefined ? tool : t('tool.ofServer', { tool, server });
    const isSaying = part.preliminary === true && isRunning;
    // Progress text of the server while the call runs.
    const said = isSaying && typeof part.output === 'string' ? part.output : undefined;
    const subject = said ?? textOf(input, subjects[toolName] ?? '');
    return { ...common, title, subject, state: t(isSaying ? 'tool.running' : stateText[state]) };
  }
  const path = textOf(input, 'path') ?? '';
  const file = path.slice(path.lastIndexOf('/') + 1) || t('tool.aFile');
  const command = toolName === 'bash' && !isRunning && state === 'output-available' ? ended(part.output, t) : undefined;
  const isFailed = common.isFailed || command?.isFailed === true;
  const phase = phaseOf(isRunning, state);
  const subject = textOf(input, subjects[toolName] ?? '');
  return {
    title: t(ownTools[toolName], { phase, file }),
    subject: subject === '' ? undefined : subject,
    state: state === 'output-denied' ? t('tool.denied') : command?.text,
    seconds: command?.seconds,
    isRunning,
    isFailed,
  };
}

function phaseOf(isRunning: boolean, state: DynamicToolPart['state']): string {
  if (isRunning) return 'running';
  return state === 'output-error' ? 'failed' : 'done';
}

/** How a command ended, where that is worth a word. */
function ended(output: unknown, t: Translate): { text: string | undefined; isFailed: boolean; seconds?: number } {
  if (!isCommandResult(output)) return { text: undefined, isFailed: false };
  const { end, milliseconds = 0 } = output;
  const took = Math.round(milliseconds / 1_000);
  const text = endText(end, t);
  return { text, isFailed: text !== undefined, ...(took > 0 ? { seconds: took } : {}) };
}

function endText(end: CommandEnd, t: Translate): string | undefined {
  if (end.kind === 'exit') return end.code === 0 ? undefined : t('tool.exitCode', { code: end.code });
  if (end.kind === 'timeout') return t('tool.timedOut');
  return end.kind === 'signal' ? t('tool.killed', { signal: end.signal }) : undefined;
}

const stateText: Record<DynamicToolPart['state'], TextId> = {
  'input-streaming': 'tool.preparing',
  'input-available': 'tool.running',
  'approval-requested': 'tool.waiting',
  'approval-responded': 'tool.running',
  'output-available': 'tool.done',
  'output-error': 'tool.failed',
  'output-denied': 'tool.denied',
};
