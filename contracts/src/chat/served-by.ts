import type { MessagePart, ServedBy } from './frames.ts';

/** The stand-in that answers, as the last part of this type states; undefined if the chosen model does. */
export function servedByIn(parts: readonly MessagePart[]): ServedBy | undefined {
  const part = parts.findLast(({ type }) => type === 'data-served-by');
  const data: unknown = part !== undefined && 'data' in part ? part.data : undefined;
  return isServedBy(data) ? { modelId: data.modelId, reason: data.reason } : undefined;
}

const reasons: ReadonlySet<unknown> = new Set(['overloaded', 'rate_limit', 'unreachable', 'error']);

function isServedBy(data: unknown): data is ServedBy {
  if (typeof data !== 'object' || data === null || !('modelId' in data) || !('reason' in data)) return false;
  return typeof data.modelId === 'string' && reasons.has(data.reason);
}
