import { isRecord, storableText } from '../stream/storable-text.ts';

/**
 * Arguments of a Gemini call that arrive in pieces: each has the JSON path of a value and the value, or the next piece
 * of a string.
 */

type Segment = string | number;
type Container = Record<string, unknown> | unknown[];

const maxDepth = 32;
const segmentShape = /\.([^.[\]]+)|\[(\d{1,6})\]|\['([^']*)'\]|\["([^"]*)"\]/y;

export function createArguments(count: (length: number) => void) {
  const args: Record<string, unknown> = {};
  /** Strings that are not complete, in pieces, by their path. */
  const open = new Map<string, string[]>();

  function addPiece(piece: Record<string, unknown>): void {
    const path = typeof piece.jsonPath === 'string' ? piece.jsonPath.slice(0, 4_000) : '';
    // An array ends with a piece without a value, which is all that comes of an empty one.
    const isArrayEnd = path.endsWith('[]');
    const segments = segmentsOf(isArrayEnd ? path.slice(0, -2) : path);
    if (segments === undefined) return;
    const value = readValue(piece);
    count(path.length + (typeof value === 'string' ? value.length : 8));
    const pieces = open.get(path);
    const empty = isArrayEnd ? [] : {};
    if (typeof value === 'string' && pieces !== undefined) pieces.push(value);
    else if (value !== undefined || piece.willContinue !== true) {
      place(args, segments, value === undefined ? empty : value, value === undefined);
    }
    if (typeof value === 'string' && pieces === undefined && piece.willContinue === true) open.set(path, [value]);
    if (pieces !== undefined && piece.willContinue !== true) close(path, pieces);
  }

  function close(path: string, pieces: string[]): void {
    open.delete(path);
    const segments = segmentsOf(path);
    if (segments !== undefined) place(args, segments, storableText(pieces.join('')), false);
  }

  return {
    /** True if one of the values is not complete. */
    add(pieces: unknown): boolean {
      const list = Array.isArray(pieces) ? pieces.filter(isRecord) : [];
      for (const piece of list) addPiece(piece);
      return list.some((piece) => piece.willContinue === true);
    },
    finish(): Record<string, unknown> {
      for (const [path, pieces] of open) close(path, pieces);
      return args;
    },
  };
}

/** Undefined for a piece that has no value, which ends a string or an array, or stands for an empty object. */
function readValue(piece: Record<string, unknown>): unknown {
  const { stringValue, numberValue, boolValue } = piece;
  if (typeof stringValue === 'string') return storableText(stringValue);
  if (typeof numberValue === 'number') return numberValue;
  if (typeof boolValue === 'boolean') return boolValue;
  return 'nullValue' in piece ? null : undefined;
}

/** The steps of a path such as `$.items[0].name`; undefined for the root and for paths that are not understood. */
function segmentsOf(path: string): Segment[] | undefined {
  const segments: Segment[] = [];
  segmentShape.lastIndex = 1;
  while (segmentShape.lastIndex < path.length) {
    const match = segmentShape.exec(path);
    if (match === null || segments.length >= maxDepth) return undefined;
    const [, name, index, single, double] = match;
    segments.push(index === undefined ? (name ?? single ?? double ?? '') : Number(index));
  }
  return path.startsWith('$') && segments.length > 0 && !segments.includes('__proto__') ? segments : undefined;
}

/** Sets the value at the path. An array grows by one entry at a time; `isEmpty`: only where there is no value yet. */
function place(root: Container, segments: readonly Segment[], value: unknown, isEmpty: boolean): void {
  let at = root;
  for (const [depth, segment] of segments.entries()) {
    const isLast = depth === segments.length - 1;
    const before = entryOf(at, segment);
    if (before === refused) return;
    const next = typeof segments[depth + 1] === 'number' ? [] : {};
    const inner = isContainer(before) ? before : next;
    if (!isLast) set(at, segment, inner);
    else if (!isEmpty || before === undefined) set(at, segment, value);
    at = inner;
  }
}

const refused = Symbol('refused');

function entryOf(container: Container, segment: Segment): unknown {
  if (!Array.isArray(container)) return Object.hasOwn(container, segment) ? container[segment] : undefined;
  if (typeof segment !== 'number' || segment > container.length) return refused;
  return container[segment];
}

function set(container: Container, segment: Segment, value: unknown): void {
  if (!Array.isArray(container)) container[segment] = value;
  else if (typeof segment === 'number') container[segment] = value;
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}
