import type { ToolDefinition } from '../../protocol.ts';
import type { RequestShape } from '../shape.ts';

/** Reads refusals of tool definitions. The text is examined, and only names and numbers that were sent are taken from it. */

const maxText = 16_000;
const maxRefused = 500;
const isAboutTools = /\btools?\b|\bfunctions?\b|function_?declarations?/i;
const isAboutDefinition =
  /schema|parameters|properties|propert(?:y|ies)|function|definition|description|declarations?|tools?\b/i;
const isAboutCount =
  /too (?:many|long)|at most|maximum|max(?:imum)? (?:number|of)|no more than|more than|exceed|\blimit|up to|max_?length|too_long|above_max/i;

/** The index of a tool in the ways that servers write a place in the request. */
const places = [
  /\btools\.(\d{1,4})\b/g,
  /\btools\[(\d{1,4})\](?!\.function_?declarations)/gi,
  /function_?declarations\[(\d{1,4})\]/gi,
  /"tools",\s?(\d{1,4})\b/g,
  /\btools -> (\d{1,4})\b/g,
  /\btool (?:at index |#)(\d{1,4})\b/gi,
];

/**
 * True if the refusal was about a tool or the number of tools, which the shape then leaves out. `sent`: the tools of the
 * request; `times`: how many tools were refused before in this step.
 */
export function learnTools(
  shape: RequestShape,
  { sent, times }: { sent: readonly ToolDefinition[]; times: number },
  refusal: string,
): boolean {
  const text = refusal.slice(0, maxText).replaceAll('\\"', '"');
  if (sent.length === 0 || !isAboutTools.test(text)) return false;
  return (
    learnTypes(shape, text) ||
    learnDescription(shape, sent, text) ||
    learnLimit(shape, sent, text) ||
    learnTool(shape, { sent, times }, text)
  );
}

/** Some servers need a type in every schema. */
function learnTypes(shape: RequestShape, refusal: string): boolean {
  if (shape.typedSchemas) return false;
  if (!/flavored json schema|type is not defined|missing (?:the )?.?type\b|(?:have|need)s? an? .?type\b/i.test(refusal))
    return false;
  shape.typedSchemas = true;
  return true;
}

function learnDescription(shape: RequestShape, sent: readonly ToolDefinition[], refusal: string): boolean {
  if (!/description/i.test(refusal) || !/too[ _]long|max|at most/i.test(refusal)) return false;
  const longest = Math.max(...sent.map(({ description }) => description.length));
  const max = numbersIn(refusal).find((value) => value >= 64 && value < longest);
  if (max === undefined) return false;
  shape.maxToolDescription = max;
  return true;
}

function learnLimit(shape: RequestShape, sent: readonly ToolDefinition[], refusal: string): boolean {
  if (!isAboutCount.test(refusal) || /token|description|schema|propert|name|character/i.test(refusal)) return false;
  const told = numbersIn(refusal).find((value) => value > 0 && value < sent.length);
  // Without a number, half of them is the quickest way to one that is accepted.
  const limit = told ?? Math.floor(sent.length / 2);
  if (limit < 1 || (told === undefined && !/too many/i.test(refusal))) return false;
  shape.maxTools = limit;
  return true;
}

function learnTool(
  shape: RequestShape,
  { sent, times }: { sent: readonly ToolDefinition[]; times: number },
  refusal: string,
): boolean {
  if (!isAboutDefinition.test(refusal)) return false;
  const named = sent.find(({ name }) => isNamed(refusal, name));
  const refused = named === undefined ? toolsAt(sent, refusal) : [named];
  for (const each of sent) {
    const isRefused = refused.includes(each);
    if (isRefused || (times > 0 && refused.some(({ name }) => isRelated(each.name, name, times))))
      refuseTool(shape, each);
  }
  return refused.length > 0;
}

/** Quoted, as names such as `ask` are also words. */
function isNamed(refusal: string, name: string): boolean {
  return ['"', "'", '`', '“', '‘'].some((quote) => {
    const at = refusal.indexOf(`${quote}${name}`);
    return at !== -1 && /^["'`”’]/.test(refusal.slice(at + 1 + name.length, at + 2 + name.length));
  });
}

/** All places of one kind: some servers name every fault at once. */
function toolsAt(sent: readonly ToolDefinition[], refusal: string): ToolDefinition[] {
  for (const place of places) {
    const indexes = new Set([...refusal.matchAll(place)].map(([, index]) => Number(index)));
    const found = sent.filter((_, index) => indexes.has(index));
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * A server that refuses one tool after another would use up the attempts of a step: the second time all tools of the
 * same MCP server go, the third time those of all MCP servers.
 */
function isRelated(name: string, refused: string, times: number): boolean {
  if (!name.startsWith('mcp__') || !refused.startsWith('mcp__')) return false;
  return times > 1 || name.split('__')[1] === refused.split('__')[1];
}

function refuseTool({ refusedTools }: RequestShape, tool: ToolDefinition): void {
  if (refusedTools.size >= maxRefused) refusedTools.clear();
  refusedTools.set(tool.name, JSON.stringify(tool.inputSchema));
}

function numbersIn(text: string): number[] {
  return (text.match(/\d{1,6}/g) ?? []).map(Number);
}
