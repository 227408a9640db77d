import { ApiError, type FieldError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';

/** Headers that frame the message or belong to one connection: only the client may set them. */
export const framingHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Accepts the custom headers of a provider or MCP server, or throws `invalid_request` with one detail per bad header
 * under `path`. Values are never repeated in the messages.
 */
export function assertCustomHeaders(headers: Record<string, string>, path = 'headers'): void {
  const entries = Object.entries(headers);
  const seen = new Set<string>();
  const details: FieldError[] = [];
  if (entries.length > limits.headerCount) details.push({ path, message: `At most ${limits.headerCount} headers` });
  for (const [name, value] of entries.slice(0, limits.headerCount)) {
    const lower = name.toLowerCase();
    const message = findFault(lower, value) ?? (seen.has(lower) ? 'Given twice' : undefined);
    if (message !== undefined) details.push({ path: `${path}.${name.slice(0, limits.headerNameMax)}`, message });
    seen.add(lower);
  }
  if (details.length > 0) throw new ApiError('invalid_request', 'These headers cannot be used.', { details });
}

function findFault(name: string, value: unknown): string | undefined {
  if (name.length > limits.headerNameMax) return `At most ${limits.headerNameMax} characters`;
  if (!namePattern.test(name) || name === '__proto__') return 'Not a valid header name';
  if (framingHeaders.has(name) || name.startsWith('proxy-')) return 'This header is set by the connection itself';
  if (typeof value !== 'string') return 'Must be a string';
  if (value.length > limits.headerValueMax) return `At most ${limits.headerValueMax} characters`;
  return isHeaderText(value) ? undefined : 'Only Latin-1 text without control characters';
}

function isHeaderText(value: string): boolean {
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code > 0xff || code === 0x7f || (code < 0x20 && code !== 0x09)) return false;
  }
  return true;
}
