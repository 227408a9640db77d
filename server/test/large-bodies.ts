import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { limits } from '@homeport/contracts/limits';
import { z } from 'zod';

/** Bodies that are as costly to read as their size allows. */

type Filling = { what: string; value: string };
type Body = { why: string; body: string };

/** Values that are costly to parse and rarely refused early, of almost this size in JSON. */
export function fillingsOf(size: number): Filling[] {
  const room = size - 2_000;
  const lists = Array.from({ length: Math.min(40_000, Math.floor(room / 4)) }, () => '[]');
  return [
    { what: 'allowed members', value: manyMembers(room, 9_000) },
    { what: 'allowed lists', value: `[${lists}]` },
    { what: 'a text of escapes', value: `"${fill('\\u20ac', room)}"` },
  ];
}

/** Bodies that are just large. */
export function shapelessBodies(size: number): Body[] {
  return [
    { why: 'nested arrays', body: fill('[', size) },
    { why: 'a list of numbers', body: `[${fill('1,', size - 3)}1]` },
    { why: 'white space', body: `${fill(' ', size - 2)}{}` },
    { why: 'members', body: manyMembers(Math.min(size, limits.jsonBodyBytes), Number.POSITIVE_INFINITY) },
  ];
}

/**
 * A valid body in which one member is a filling instead. Records and lists get many members, which their schemas would
 * walk; each of the others gets one filling in turn.
 */
export function misshapen({ body }: EndpointSpec, sample: unknown, fillings: readonly Filling[]): Body[] {
  const known = typeof sample === 'object' && sample !== null ? sample : {};
  const shape = body === undefined ? {} : (z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as Shape);
  const containers = new Map(containersOf(shape, []));
  const places = new Set([...Object.keys(known), ...Object.keys(shape.properties ?? {}), ...containers.keys()]);
  return [...places].map((place, index) => {
    const what = containers.get(place);
    const filling = fillings.find((one) => one.what === what) ?? fillings[index % fillings.length];
    return {
      why: `${filling?.what} as ${place}`,
      body: JSON.stringify(replaced(known, place.split('.'))).replace('"@"', () => filling?.value ?? 'null'),
    };
  });
}

/** The part of a JSON Schema that identifies records and lists. */
type Shape = {
  type?: string;
  properties?: Record<string, Shape>;
  additionalProperties?: unknown;
  anyOf?: Shape[];
  oneOf?: Shape[];
};

/** Paths of records and lists, with their fillings. */
function containersOf(shape: Shape, path: string[]): [string, string][] {
  const inner = [...(shape.anyOf ?? []), ...(shape.oneOf ?? [])].flatMap((branch) => containersOf(branch, path));
  const members = Object.entries(shape.properties ?? {}).flatMap(([name, member]) =>
    containersOf(member, [...path, name]),
  );
  const found = [...inner, ...members];
  if (path.length === 0) return found;
  const isRecord = shape.properties === undefined && typeof shape.additionalProperties === 'object';
  if (isRecord) found.push([path.join('.'), 'allowed members']);
  if (shape.type === 'array') found.push([path.join('.'), 'allowed lists']);
  return found;
}

function replaced(value: unknown, [name, ...rest]: string[]): unknown {
  if (name === undefined) return '@';
  const members = typeof value === 'object' && value !== null ? value : {};
  return { ...members, [name]: replaced(Reflect.get(members, name), rest) };
}

export function fill(unit: string, size: number): string {
  return unit.repeat(Math.floor(size / unit.length));
}

function manyMembers(size: number, count: number): string {
  const members: string[] = [];
  for (let bytes = 2; members.length < count; ) {
    const member = `"k${members.length}":"allow"`;
    bytes += member.length + 1;
    if (bytes > size) break;
    members.push(member);
  }
  return `{${members}}`;
}
