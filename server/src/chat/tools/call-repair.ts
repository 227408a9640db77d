import { parseForeignJson } from '../../platform/json/json-scan.ts';
import { isRecord, storableJson } from '../model/stream/storable-text.ts';
import { coerceArguments, matchesSchema } from './schema-match.ts';

/**
 * Names and arguments of calls as models write them, with the mistakes that are known from models and their servers. A
 * repair counts only if exactly one tool, or arguments that its schema allows, come out of it.
 */

type Named = { name: string; isOffered?: boolean | (() => boolean) };

/** True if the tool is listed for the model at present. */
export function isOffered({ isOffered: offers }: Pick<Named, 'isOffered'>): boolean {
  return typeof offers === 'function' ? offers() : offers !== false;
}
type Arguments = Record<string, unknown>;

const maxRepaired = 256 * 1024;
const maxLayers = 3;

/** The tool that a model means; undefined if the name fits none or several of them. */
export function findTool<Found extends Named>(tools: readonly Found[], name: string): Found | undefined {
  const exact = tools.find((tool) => tool.name === name);
  if (exact !== undefined || name.length > 256) return exact;
  const offered = tools.filter(isOffered);
  for (const candidate of namesIn(name)) {
    const plain = offered.filter((tool) => tool.name === candidate);
    const folded = plain.length > 0 ? plain : offered.filter((tool) => fold(tool.name) === fold(candidate));
    const ended = folded.length > 0 ? folded : offered.filter((tool) => tool.name.endsWith(`__${candidate}`));
    if (ended.length === 1) return ended[0];
    if (ended.length > 1) return undefined;
  }
  return undefined;
}

/** The name without the channel markers, prefixes, numbers and quotes that models put around it. */
function namesIn(name: string): string[] {
  const bare = name
    .replace(/<\|.*/s, '')
    .replaceAll(/["'`\s]/g, '')
    .replace(/\(\)$/, '');
  const unnumbered = bare.replace(/:\d{1,4}$/, '');
  const last = unnumbered.split(/[.:/]/).at(-1) ?? '';
  return [...new Set([bare, unnumbered, last])].filter((candidate) => candidate !== '');
}

/** Names that differ in case and in their separators only. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** The arguments of a call; undefined if they are no JSON object and no repair of them fits the schema. */
export function readArguments(text: string, inputSchema: Arguments): Arguments | undefined {
  const value = parse(text);
  const plain = value === null ? {} : value;
  if (isRecord(plain) && matchesSchema(inputSchema, plain)) return plain;
  for (const candidate of candidatesOf(text, value)) {
    const coerced = storable(coerceArguments(inputSchema, candidate));
    if (isRecord(coerced)) return coerced;
  }
  // The tool says what is wrong with them.
  return isRecord(plain) ? plain : undefined;
}

/** The objects that a text may mean: unwrapped, and read in spite of what is around it. */
function candidatesOf(text: string, value: unknown): Arguments[] {
  if (value !== undefined) return unwrap(value);
  if (text.length > maxRepaired) return [];
  // Some gateways begin the arguments with empty ones.
  const bare = withoutFence(text).replace(/^(?:\{\}|null)\s{0,9}(?=\{)/, '');
  const texts = [bare, mendJson(bare)];
  return texts.flatMap((each) => unwrap(parse(each) ?? parse(firstObject(each))));
}

/** The object in layers of JSON texts, in a list of one, or in a member that repeats the name of the whole. */
function unwrap(given: unknown): Arguments[] {
  let value = given;
  for (let layer = 0; layer < maxLayers && typeof value === 'string' && value.length <= maxRepaired; layer++) {
    value = parse(withoutFence(value)) ?? parse(firstObject(value));
  }
  const inner: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isRecord(inner)) return [];
  const nested = ['arguments', 'parameters', 'input', 'args'].flatMap((name) => {
    const member = Object.hasOwn(inner, name) ? inner[name] : undefined;
    const read = typeof member === 'string' ? parse(member) : member;
    return isRecord(read) ? [read] : [];
  });
  return [inner, ...nested];
}

function withoutFence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```')) return trimmed;
  const start = trimmed.indexOf('\n');
  return start === -1 ? trimmed.replaceAll('```', '').replace(/^json/i, '') : trimmed.slice(start, -3).trim();
}

/** The text with line ends and tabs in its strings escaped, and without commas before a closing bracket. */
function mendJson(text: string): string {
  let isInString = false;
  let escaped = '';
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\' && isInString) {
      escaped += text.slice(at, at + 2);
      at++;
      continue;
    }
    if (character === '"') isInString = !isInString;
    if (character === ',' && !isInString && /^\s*[}\]]/.test(text.slice(at + 1, at + 200))) continue;
    const isControl = isInString && character < ' ';
    escaped += isControl ? JSON.stringify(character).slice(1, -1) : character;
  }
  return escaped;
}

/** The first object of a text, if only empty objects or the same one again follow it. */
function firstObject(text: string): string {
  const start = text.indexOf('{');
  const end = start === -1 ? -1 : objectEnd(text, start);
  if (end === -1 || text.slice(0, start).trim() !== '') return '';
  const first = text.slice(start, end);
  const rest = text.slice(end).replaceAll(first, '').replaceAll('{}', '').trim();
  return rest === '' ? first : '';
}

function objectEnd(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
    if (isInString) {
      if (character === '\\') at++;
      else if (character === '"') isInString = false;
      continue;
    }
    if (character === '"') isInString = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at + 1;
  }
  return -1;
}

function parse(text: string): unknown {
  try {
    return storableJson(parseForeignJson(text));
  } catch {
    return undefined;
  }
}

/** Texts within the arguments were parsed on the way. */
function storable(value: unknown): unknown {
  try {
    return storableJson(value);
  } catch {
    return undefined;
  }
}
