import type { DynamicToolPart, MessagePart } from '@homeport/contracts/chat/frames';

/** Parts of an answer while it is read: calls and results are separate, as in most programs. */
export type Piece =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'file'; index: number; name: string; mediaType: string }
  | { type: 'call'; callId: string; name: string; input: unknown }
  | { type: 'result'; callId: string | undefined; name: string; output: unknown; isError?: boolean };

export const textPiece = (value: string): Piece[] => (value.trim() === '' ? [] : [{ type: 'text', text: value }]);
export const reasoningPiece = (value: string): Piece[] =>
  value.trim() === '' ? [] : [{ type: 'reasoning', text: value }];

/** The parts of a message as answers are stored: each result with its call. */
export function partsOf(pieces: readonly Piece[]): MessagePart[] {
  const parts: MessagePart[] = [];
  const open: { part: DynamicToolPart; callId: string; name: string }[] = [];
  for (const piece of pieces) {
    if (piece.type === 'text' || piece.type === 'reasoning') parts.push({ type: piece.type, text: piece.text });
    else if (piece.type === 'file') {
      const { index, name: filename, mediaType } = piece;
      parts.push({ type: 'file', mediaType, filename, url: `import:${index}` });
    } else if (piece.type === 'call') {
      const part = toolPart(parts.length, piece);
      open.push({ part, callId: piece.callId, name: piece.name });
      parts.push(part);
    } else {
      const place = findCall(open, piece);
      const call = place === -1 ? undefined : open.splice(place, 1)[0];
      const part = call?.part ?? toolPart(parts.length, { callId: piece.callId ?? '', name: piece.name, input: {} });
      if (call === undefined) parts.push(part);
      settle(part, piece);
    }
  }
  return parts;
}

function toolPart(
  place: number,
  { callId, name, input }: { callId: string; name: string; input: unknown },
): DynamicToolPart {
  return {
    type: 'dynamic-tool',
    toolName: name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'tool',
    toolCallId: `call_${place}_${callId.replace(/[^A-Za-z0-9_-]/g, '').slice(0, 40)}`,
    state: 'output-error',
    input,
    errorText: 'The archive has no result for this call.',
  };
}

function settle(part: DynamicToolPart, { output, isError }: { output: unknown; isError?: boolean }): void {
  if (isError === true) {
    part.errorText = typeof output === 'string' ? output : JSON.stringify(output);
    return;
  }
  part.state = 'output-available';
  part.output = output;
  delete part.errorText;
}

/** By the call's id, else by its name, else the oldest one that waits. */
function findCall(
  open: readonly { callId: string; name: string }[],
  result: { callId: string | undefined; name: string },
) {
  if (result.callId !== undefined) return open.findIndex((call) => call.callId === result.callId);
  const named = open.findIndex((call) => call.name === result.name);
  return named === -1 ? (open.length === 0 ? -1 : 0) : named;
}
