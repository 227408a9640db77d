import type { MessageFinishReason } from '@homeport/contracts/chat/finish-reasons';
import type { MessagePart, MessageStatus } from '@homeport/contracts/chat/frames';
import { webAddress } from '@homeport/contracts/chat/sources';
import { commandText, isCommandResult, type WorkspaceTool } from '@homeport/contracts/workspace/workspace-tools';

/** A message as the Markdown export shows it. */
export type ShownMessage = {
  role: 'user' | 'assistant';
  parts: readonly MessagePart[];
  status: MessageStatus;
  error: string | null;
  finishReason?: MessageFinishReason | null;
  createdAt: Date;
  /** Said where turns are numbered. */
  turn?: number;
};

const endTexts: Partial<Record<MessageFinishReason, string>> = {
  length: 'cut off at the output limit',
  content_filter: 'ended by the provider’s content filter',
  refusal: 'refused by the model',
  reasoning_only: 'reasoning without an answer',
};

/** The heading of an exported conversation. */
export function markdownHead(title: string): string {
  return `# ${inline(title)}\n`;
}

/**
 * Writes one message under its own heading, and closes fences that its text leaves open, so that it cannot swallow the
 * next.
 */
export function markdownMessage(message: ShownMessage): string {
  const who = message.role === 'user' ? 'You' : 'Assistant';
  const blocks = [...message.parts.map(markdownPart), markdownSources(message.parts)].filter((block) => block !== '');
  if (message.status !== 'complete') {
    const reason = message.error === null ? '' : `: ${inline(message.error)}`;
    blocks.push(`*(${message.status}${reason})*`);
  } else {
    const end = endTexts[message.finishReason ?? 'stop'];
    if (end !== undefined) blocks.push(`*(${end})*`);
  }
  const turn = message.turn === undefined ? '' : ` (turn ${message.turn})`;
  return `\n## ${who}${turn}, ${message.createdAt.toISOString()}\n\n${blocks.join('\n\n')}\n`;
}

function markdownPart(part: MessagePart): string {
  switch (part.type) {
    case 'text':
      return closeFences(part.text.trim());
    case 'reasoning':
      return part.text.trim() === '' ? '' : quote(`**Reasoning**\n\n${closeFences(part.text.trim())}`);
    case 'file':
      return markdownFile(part);
    default:
      return isToolPart(part) ? markdownTool(part) : '';
  }
}

/** The sources of an answer, as a list under it. */
function markdownSources(parts: readonly MessagePart[]): string {
  const lines = parts.flatMap((part) => {
    if (part.type === 'source-document') return [`${inline(part.title)}`];
    const address = part.type === 'source-url' ? webAddress(part.url) : undefined;
    if (part.type !== 'source-url' || address === undefined) return [];
    return [`[${inline(part.title ?? address)}](<${address}>)`];
  });
  return lines.length === 0 ? '' : `**Sources**\n\n${lines.map((line, at) => `${at + 1}. ${line}`).join('\n')}`;
}

type ToolPart = Extract<MessagePart, { type: 'dynamic-tool' }>;

function isToolPart(part: MessagePart): part is ToolPart {
  return part.type === 'dynamic-tool';
}

function markdownFile({ filename, mediaType, url }: Extract<MessagePart, { type: 'file' }>): string {
  const name = inline(filename ?? mediaType);
  return /^(?:artifact|https?):/i.test(url) ? `[${name}](<${encodeURI(url)}>)` : `[${name}] (${inline(mediaType)})`;
}

function markdownTool({ toolName, input, output, errorText }: ToolPart): string {
  const blocks = [`**Tool ${inline(toolName)}**`];
  if (input !== undefined) blocks.push(fenced(input));
  const isCommand = toolName === ('bash' satisfies WorkspaceTool) && isCommandResult(output);
  if (output !== undefined) blocks.push(fenced(isCommand ? commandText(output) : output));
  if (errorText !== undefined) blocks.push(`Error: ${inline(errorText)}`);
  return blocks.join('\n\n');
}

function fenced(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${typeof value === 'string' ? '' : 'json'}\n${text}\n${fence}`;
}

function quote(text: string): string {
  return text.replace(/^/gm, '> ');
}

/** One line, with the characters that mean something in Markdown or HTML escaped. */
export function inline(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/[\\`*_[\]<>#&]/g, '\\$&');
}

function closeFences(text: string): string {
  let open = '';
  for (const line of text.split('\n')) {
    const [indented = '', fence = ''] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    const rest = line.slice(indented.length);
    if (fence === '') continue;
    if (open === '') open = fence.startsWith('`') && rest.includes('`') ? '' : fence;
    else if (fence[0] === open[0] && fence.length >= open.length && rest.trim() === '') open = '';
  }
  return open === '' ? text : `${text}\n${open}`;
}
