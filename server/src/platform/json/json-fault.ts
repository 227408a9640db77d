/** A part of a JSON value that cannot be stored. `path` is dotted. */
export type JsonFault = { path: string; message: string };

const maxDepth = 64;

/** True for text that PostgreSQL and UTF-8 can store: no NUL, no lone surrogate. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

/**
 * The first thing in a JSON value that cannot be stored or makes it larger than `maxSize` (characters and members), as
 * aliases in YAML can. It allocates nothing, since there can be millions of values; the allowed depth bounds the
 * recursion.
 */
export function findJsonFault(value: unknown, maxSize = Number.POSITIVE_INFINITY): JsonFault | undefined {
  return findFault(value, 0, { left: maxSize });
}

type Budget = { left: number };

function findFault(value: unknown, depth: number, budget: Budget): JsonFault | undefined {
  budget.left -= 1;
  if (typeof value === 'string') {
    budget.left -= value.length;
    if (!isStorable(value)) return { path: '', message: 'Contains a NUL character or half a surrogate pair' };
  }
  if (budget.left < 0) return { path: '', message: 'Too large: its aliases make it longer than it is' };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= maxDepth) return { path: '', message: `Nested deeper than ${maxDepth} levels` };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const fault = findFault(value[index], depth + 1, budget);
      if (fault !== undefined) return below(String(index), fault);
    }
    return undefined;
  }
  return findFaultInMembers(value, depth, budget);
}

function findFaultInMembers(value: object, depth: number, budget: Budget): JsonFault | undefined {
  for (const key of Object.keys(value)) {
    if (!isStorable(key))
      return { path: '', message: 'A member name contains a NUL character or half a surrogate pair' };
    // Copying such a member into an object loses it or sets the prototype.
    if (key === '__proto__') return { path: key, message: 'A member cannot have this name' };
    const fault = findFault(Reflect.get(value, key), depth + 1, budget);
    if (fault !== undefined) return below(key, fault);
  }
  return undefined;
}

function below(key: string, fault: JsonFault): JsonFault {
  return { path: fault.path === '' ? key : `${key}.${fault.path}`, message: fault.message };
}
