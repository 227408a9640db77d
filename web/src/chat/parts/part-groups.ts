import type { MessagePart } from '@homeport/contracts/chat/frames';
import { questionsIn } from '@homeport/contracts/chat/message-assembly';

/**
 * Parts in the order they are shown: alone, or as steps folded into one. Numbers are places among the message's parts.
 */
export type PartGroup = { kind: 'part'; index: number } | { kind: 'steps'; indexes: number[] };

/** From so many tool calls in a row on they are one line. */
const manyTools = 3;

/** Folds runs of tool calls, with the thoughts between them, into groups. */
export function groupParts(parts: readonly MessagePart[]): PartGroup[] {
  const groups: PartGroup[] = [];
  let run: number[] = [];
  const flush = () => {
    const tools = run.filter((index) => parts[index]?.type === 'dynamic-tool').length;
    if (tools >= manyTools) groups.push({ kind: 'steps', indexes: run });
    else groups.push(...run.map((index) => ({ kind: 'part' as const, index })));
    run = [];
  };
  const published = new Set(parts.map(publishedUrl));
  // Their questions show how they were answered.
  const asked = new Set(parts.map(callThatAsks));
  for (const [index, part] of parts.entries()) {
    // The call that published a picture shows it already, with its name.
    if (part.type === 'dynamic-tool' && asked.has(part.toolCallId)) continue;
    if (isNothing(part) || (part.type === 'file' && published.has(part.url))) continue;
    if (isStep(part)) run.push(index);
    else {
      flush();
      groups.push({ kind: 'part', index });
    }
  }
  flush();
  return groups;
}

/** React key of a group, from its first part: typed input survives when earlier parts are folded. */
export function groupKey(group: PartGroup): string {
  return group.kind === 'part' ? `${group.index}` : `steps ${group.indexes[0]}`;
}

/** A tool that waits for an answer, has something to watch or a file to open, is not folded away. */
function isStep(part: MessagePart): boolean {
  if (part.type === 'dynamic-tool')
    return (
      part.toolName !== 'plan' &&
      part.state !== 'approval-requested' &&
      part.preliminary !== true &&
      part.toolName !== 'publish_artifact' &&
      part.toolName !== 'preview'
    );
  return part.type === 'reasoning';
}

/** Call id of a running tool whose MCP server asks a question; it is shown beside the tool's row. */
function callThatAsks(part: MessagePart): string | undefined {
  const asked = questionsIn(part);
  return asked?.from === undefined ? asked?.toolCallId : undefined;
}

function isNothing(part: MessagePart): boolean {
  if (part.type === 'text' || part.type === 'reasoning') return part.text.trim() === '';
  return part.type === 'step-start' || part.type === 'data-next' || part.type.startsWith('source-');
}

function publishedUrl(part: MessagePart): string | undefined {
  if (part.type !== 'dynamic-tool' || part.toolName !== 'publish_artifact') return undefined;
  const { output } = part;
  const id = typeof output === 'object' && output !== null ? Reflect.get(output, 'id') : undefined;
  return typeof id === 'string' ? `artifact://${id}` : undefined;
}
