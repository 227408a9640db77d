import { readFileSync } from 'node:fs';
import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { type EndpointName, endpoints } from '@homeport/contracts/endpoints';
import { z } from 'zod';

/** Response shapes as the specification and the contract write them, and as the endpoint table has them. */

/** Members by name; those of nested records below them. `isOpen`: the text ends with "…", so more may follow. */
export type Shape = { members: Map<string, Shape | undefined>; isOpen: boolean };
/** A shape that one of the documents spells out. */
export type SpelledShape = { method: string; path: string; status: number | undefined; shape: Shape; text: string };

export const specification = readDocument('control-plane-api.md');
export const contract = readDocument('contract.md');

function readDocument(name: string): string {
  return readFileSync(new URL(`../../docs/spec/${name}`, import.meta.url), 'utf8');
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const beforeShape = /\b(?:[Rr]esponse|[Rr]esponds(?: (\d{3}))?|(\d{3}) with body)\s+(?=\{)/g;
const shapeBefore = /(\{[^{}]*\}) response\b/g;

/** Every response of the specification's endpoint tables that is written as `{…}`. */
export function spelledInSpecification(): SpelledShape[] {
  return specification.split('\n').flatMap((line) => {
    const row = /^\| ([^|]+) \| ([^|]+) \| (.*) \|$/.exec(line);
    if (row === null) return [];
    const [, first = '', second = '', text = ''] = row;
    const path = /\/api\/[^\s.*<]+/.exec(second)?.[0];
    if (path === undefined) return [];
    const found = methods.includes(first) ? [first] : methods;
    const shapes = [
      ...[...text.matchAll(beforeShape)].map((match) => ({
        text: braced(text, match.index + match[0].length),
        status: Number(match[1] ?? match[2]) || undefined,
      })),
      ...[...text.matchAll(shapeBefore)].map((match) => ({ text: match[1] ?? '', status: undefined })),
    ];
    return found.flatMap((method) =>
      shapes.map((spelled) => ({ method, path, ...spelled, shape: parseShape(spelled.text) })),
    );
  });
}

const arrow =
  /`((?:GET|POST|PUT|PATCH|DELETE)(?:\/(?:GET|POST|PUT|PATCH|DELETE))*) (\/api\/[^\s`?{[(]+)[^`]*`\s*(?:\(\w+\)\s*)?→\s*(?:(\d{3})\s*)?`(?=\{)/g;

/** Every `METHOD /path` → `{…}` of the contract. */
export function spelledInContract(): SpelledShape[] {
  const text = contract.replace(/\n\s*/g, ' ');
  return [...text.matchAll(arrow)].flatMap((match) => {
    const spelled = braced(text, match.index + match[0].length);
    const [, named = '', path = '', status] = match;
    return named.split('/').map((method) => ({
      method,
      path,
      status: status === undefined ? undefined : Number(status),
      shape: parseShape(spelled),
      text: spelled,
    }));
  });
}

/** A record that the contract lists as `Name: {…}`. */
export function recordInContract(name: string): Shape {
  const text = contract.replace(/\n\s*/g, ' ');
  const start = text.indexOf(`${name}: \`{`);
  if (start < 0) throw new Error(`The contract has no record ${name}`);
  return parseShape(braced(text, text.indexOf('{', start)));
}

/** Member names of a table below a heading of the specification; those that are write-only are left out. */
export function tableOf(heading: string): string[] {
  const section = specification.split(`### ${heading}\n`)[1]?.split('\n#')[0] ?? '';
  return section.split('\n').flatMap((line) => {
    const [, name, ...rest] = line.split('|').map((cell) => cell.trim());
    const isMember = name !== undefined && /^[a-z]\w*$/.test(name);
    return isMember && !rest.join(' ').includes('write-only') ? [name] : [];
  });
}

/** The text from an opening brace to the one that closes it. */
function braced(text: string, start: number): string {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) return text.slice(start, at + 1);
  }
  throw new Error(`No closing brace after ${text.slice(start, start + 60)}`);
}

/** Reads `{a, b?: string, c: [{d}]}`. */
function parseShape(text: string): Shape {
  const members = new Map<string, Shape | undefined>();
  let isOpen = false;
  for (const piece of pieces(text.slice(1, -1))) {
    const name = /^<?(\w+)>?\??/.exec(piece)?.[1];
    if (piece.startsWith('…')) isOpen = true;
    else if (name !== undefined) members.set(name, nested(piece));
  }
  return { members, isOpen };
}

function nested(piece: string): Shape | undefined {
  const value = /^<?\w+>?\??\s*:\s*\[?(\{.*)$/s.exec(piece)?.[1];
  if (value === undefined || value.startsWith('{<')) return undefined;
  return parseShape(braced(value, 0));
}

function pieces(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let piece = '';
  for (const letter of text) {
    if ('{['.includes(letter)) depth += 1;
    if ('}]'.includes(letter)) depth -= 1;
    if (letter === ',' && depth === 0) {
      found.push(piece.trim());
      piece = '';
    } else piece += letter;
  }
  return [...found, piece.trim()].filter((each) => each !== '');
}

/** The rows of the endpoint table at a method and path of the documents. */
export function rowsAt(method: string, path: string): [EndpointName, EndpointSpec][] {
  const plain = path.replace(/<(\w+)>/g, ':$1').replace(/:chat_id/g, ':chatId');
  return entriesOf(endpoints).filter(([, spec]) => spec.method === method && spec.path === plain);
}

function entriesOf(table: Record<string, EndpointSpec>): [EndpointName, EndpointSpec][] {
  return Object.entries(table) as [EndpointName, EndpointSpec][];
}

/** The object schemas that a response can be: several for a union. */
export function objectsOf(schema: unknown): z.ZodObject[] {
  if (schema instanceof z.ZodObject) return [schema];
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(objectsOf);
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return objectsOf(schema.unwrap());
  if (schema instanceof z.ZodArray) return objectsOf(schema.element);
  return [];
}

/** Members that a schema has in addition to a shape, and those that it lacks, as dotted paths. */
export function differences(shape: Shape, schema: z.ZodObject, at = ''): { more: string[]; less: string[] } {
  const present = new Map<string, unknown>(Object.entries(schema.shape));
  const more = shape.isOpen
    ? []
    : [...present.keys()].filter((name) => !shape.members.has(name)).map((name) => at + name);
  const less = [...shape.members.keys()].filter((name) => !present.has(name)).map((name) => at + name);
  for (const [name, inner] of shape.members) {
    const [object, ...others] = objectsOf(present.get(name));
    if (inner === undefined || object === undefined || others.length > 0) continue;
    const below = differences(inner, object, `${at}${name}.`);
    more.push(...below.more);
    less.push(...below.less);
  }
  return { more, less };
}
