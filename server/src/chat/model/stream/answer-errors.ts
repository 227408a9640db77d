import { isRecord } from './storable-text.ts';

/** Members of which every answer and every event of one has at least one. */
const answerMembers = [
  ...['choices', 'candidates', 'output', 'content', 'response', 'type', 'object', 'usage', 'usageMetadata'],
  ...['promptFeedback', 'delta', 'done'],
];
/** Members that hold the words of an error, where a server sends it without `error`. */
const wordMembers = ['message', 'msg', 'detail', 'errors', 'error_msg', 'error_message', 'errorMessage'];

/**
 * The error that a server sent in place of an answer or an event, with the members beside it that tell its kind.
 * Undefined if there is none: servers also send empty errors with each event.
 */
export function errorIn(value: Record<string, unknown>): unknown {
  const { error, type, base_resp: status } = value;
  if (isFilled(error)) return isRecord(error) ? error : value;
  if (value.object === 'error' || type === 'error') return value;
  if (typeof type === 'string' && /_?error$/i.test(type) && isFilled(value.message)) return value;
  if (isRecord(status) && typeof status.status_code === 'number' && status.status_code !== 0) return status;
  const isAnswer = answerMembers.some((name) => value[name] !== undefined && value[name] !== null);
  return !isAnswer && wordMembers.some((name) => isFilled(value[name])) ? value : undefined;
}

function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isRecord(value)) return Object.keys(value).length > 0;
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}
