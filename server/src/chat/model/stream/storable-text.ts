const maxDepth = 64;

/** Text that PostgreSQL can store: without NUL, lone surrogates replaced by U+FFFD. */
export function storableText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '') : wellFormed;
}

/**
 * A copy of a JSON value with every string and key made storable and `__proto__` keys dropped.
 * Throws RangeError beyond 64 levels of nesting.
 */
export function storableJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return storableText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) throw new RangeError('nested too deeply');
  if (Array.isArray(value)) return value.map((item) => storableJson(item, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (key !== '__proto__') copy[storableText(key)] = storableJson(item, depth + 1);
  }
  return copy;
}

/** True for plain JSON objects, so that members of foreign JSON can be read as `unknown`. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
