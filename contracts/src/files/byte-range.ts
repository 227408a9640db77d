/** Both ends are included. */
export type ByteRange = { start: number; end: number };

/**
 * The single range that a `range` header asks for (RFC 9110, 14.2). Undefined means to send the whole content: no header, several
 * ranges, or not a byte range. `unsatisfiable`: the content has none of it.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=[ \t]*(\d{0,16})-(\d{0,16})[ \t]*$/i.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
