import type { Frame, MessagePart } from '@homeport/contracts/frames';

/** The frames that make these parts again: for joining a response that has ended, and for continuing one that was cut. */
export function framesOfParts(parts: readonly MessagePart[]): Frame[] {
  return parts.flatMap((part, index) => framesOfPart(part, String(index)));
}

function framesOfPart(part: MessagePart, id: string): Frame[] {
  switch (part.type) {
    case 'step-start':
      return [{ type: 'start-step' }];
    case 'text':
      return [
        { type: 'text-start', id: `text-${id}` },
        { type: 'text-delta', id: `text-${id}`, delta: part.text },
        { type: 'text-end', id: `text-${id}` },
      ];
    case 'reasoning':
      return [
        { type: 'reasoning-start', id: `reasoning-${id}` },
        { type: 'reasoning-delta', id: `reasoning-${id}`, delta: part.text },
        { type: 'reasoning-end', id: `reasoning-${id}` },
      ];
    default:
      return isToolPart(part) ? framesOfTool(part) : [];
  }
}

type ToolPart = Extract<MessagePart, { type: 'dynamic-tool' }>;

function isToolPart(part: MessagePart): part is ToolPart {
  return part.type === 'dynamic-tool';
}

function framesOfTool(part: ToolPart): Frame[] {
  const { toolCallId, toolName, input } = part;
  const frames: Frame[] = [
    { type: 'tool-input-start', toolCallId, toolName, dynamic: true },
    { type: 'tool-input-available', toolCallId, toolName, input, dynamic: true },
  ];
  if (part.state === 'output-available') {
    frames.push({ type: 'tool-output-available', toolCallId, output: part.output, dynamic: true });
  }
  if (part.state === 'output-error') {
    frames.push({ type: 'tool-output-error', toolCallId, errorText: part.errorText ?? '', dynamic: true });
  }
  return frames;
}
