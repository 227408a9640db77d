/** The value registered for a path, and the path's parameters. */
export type Found<T> = { value: T; params: Record<string, string> };

type Pattern<T> = { segments: string[]; value: T };

/**
 * Finds by path: `/api/chats` as it is, `/api/chat/:chatId/stop` with any one segment in the place of the parameter.
 */
export class PathTable<T> {
  readonly #plain = new Map<string, T>();
  readonly #patterns: Pattern<T>[] = [];

  constructor(entries: Iterable<[path: string, value: T]>) {
    for (const [path, value] of entries) {
      if (path.includes(':')) this.#patterns.push({ segments: path.split('/'), value });
      else this.#plain.set(path, value);
    }
  }

  find(path: string): Found<T> | undefined {
    const value = this.#plain.get(path);
    if (value !== undefined) return { value, params: {} };
    const given = path.split('/');
    for (const { segments, value } of this.#patterns) {
      const params = matchSegments(segments, given);
      if (params !== undefined) return { value, params };
    }
    return undefined;
  }
}

function matchSegments(segments: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  if (segments.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const text = given[index] ?? '';
    if (!segment.startsWith(':')) {
      if (segment !== text) return undefined;
    } else if (text === '') return undefined;
    else params[segment.slice(1)] = decode(text);
  }
  return params;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
