import type { DynamicToolPart, Frame, MessagePart, NoticeData } from './frames.ts';
import { questionsIn } from './message-assembly.ts';
import { servedByIn } from './served-by.ts';

/** Frames that assemble to these stored parts, for followers of a continued response. */
export function framesOfParts(parts: readonly MessagePart[]): Frame[] {
  return parts.flatMap((part, index) => framesOfPart(part, storedId(index)));
}

/** The same, with the text at the end still open and its id; undefined if no text is at the end. */
export function framesWithOpenText(
  parts: readonly MessagePart[],
): { frames: Frame[]; open: { id: string; text: string } } | undefined {
  const at = parts.findLastIndex(({ type }) => !type.startsWith('data-'));
  const last = parts[at];
  if (last?.type !== 'text' || last.text.trim() === '') return undefined;
  const open = { id: storedId(at), text: last.text };
  const frames = framesOfParts(parts).filter((frame) => frame.type !== 'text-end' || frame.id !== open.id);
  return { frames, open };
}

function storedId(index: number): string {
  return `stored-${index}`;
}

function framesOfPart(part: MessagePart, partId: string): Frame[] {
  switch (part.type) {
    case 'step-start':
      return [{ type: 'start-step' }];
    case 'text':
      return [
        { type: 'text-start', id: partId },
        { type: 'text-delta', id: partId, delta: part.text },
        { type: 'text-end', id: partId },
      ];
    case 'reasoning': {
      const id = part.id ?? partId;
      return [
        { type: 'reasoning-start', id },
        { type: 'reasoning-delta', id, delta: part.text },
        { type: 'reasoning-end', id },
      ];
    }
    case 'dynamic-tool':
      return framesOfTool(part);
    case 'file':
      return [{ type: 'file', mediaType: part.mediaType, url: part.url }];
    case 'source-url':
    case 'source-document':
      return [{ ...part }];
    default: {
      const asked = questionsIn(part);
      if (asked !== undefined) return [{ type: 'data-question', data: asked }];
      const servedBy = servedByIn([part]);
      if (servedBy !== undefined) return [{ type: 'data-served-by', data: servedBy }];
      return part.type === 'data-notice' && isNotice(part.data) ? [{ type: 'data-notice', data: part.data }] : [];
    }
  }
}

function framesOfTool(part: DynamicToolPart): Frame[] {
  const { toolCallId, toolName, input } = part;
  if (part.state === 'input-streaming') {
    return [
      { type: 'tool-input-start', toolCallId, toolName, dynamic: true },
      { type: 'tool-input-delta', toolCallId, inputTextDelta: part.rawInput ?? '' },
    ];
  }
  const frames: Frame[] = [{ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true }];
  if (part.approval !== undefined)
    frames.push({ type: 'tool-approval-request', approvalId: part.approval.id, toolCallId });
  if (part.approval?.approved !== undefined)
    frames.push(answerOf(part.approval.id, part.approval.approved, part.approval.reason));
  if (part.state === 'output-available') {
    const preliminary = part.preliminary === true ? ({ preliminary: true } as const) : {};
    frames.push({ type: 'tool-output-available', toolCallId, output: part.output, dynamic: true, ...preliminary });
  } else if (part.state === 'output-error') {
    frames.push({ type: 'tool-output-error', toolCallId, errorText: part.errorText ?? '', dynamic: true });
  } else if (part.state === 'output-denied') {
    frames.push({ type: 'tool-output-denied', toolCallId });
  }
  return frames;
}

function answerOf(approvalId: string, approved: boolean, reason: string | undefined): Frame {
  return { type: 'tool-approval-response', approvalId, approved, ...(reason === undefined ? {} : { reason }) };
}

function isNotice(data: unknown): data is NoticeData {
  return typeof data === 'object' && data !== null && 'code' in data && 'message' in data;
}
