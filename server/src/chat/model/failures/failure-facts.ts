import { isRecord } from '../stream/storable-text.ts';

/** Facts in the body of a provider's error response. */
export type FailureFacts = {
  /** The provider's message for people, unchanged; empty if there is none. */
  message: string;
  /** Codes, types and messages, each on a line of its own: the text that wordings are searched in. */
  text: string;
  /** Name of the refused field, if the provider states it as one. */
  parameter: string | undefined;
};

const maxStrings = 60;
const maxDepth = 9;
const maxTextLength = 8_000;

/** Members with facts. Others, such as an echo of the request, are not examined. */
const factNames = new Set([
  ...['error', 'errors', 'message', 'msg', 'detail', 'details', 'code', 'type', 'status', 'reason', 'title', 'param'],
  ...['error_type', 'error_code', 'error_message', 'error_description', 'errorcode', '__type', 'metadata', 'raw'],
  ...['innererror', 'violations', 'quotaid', 'quotametric', 'fault', 'faultstring', 'loc', 'description', 'response'],
  ...['error_msg', 'errormessage', 'status_msg', 'status_code', 'base_resp'],
]);

/** Reads a JSON body of any provider's shape, or plain text. Of a web page only its headings count. */
export function readFailureFacts(body: string): FailureFacts {
  const start = body.trimStart();
  if (start.startsWith('<')) return { message: '', text: headings(start), parameter: undefined };
  if (start.startsWith('{') || start.startsWith('[') || start.startsWith('"')) {
    const parsed = parse(start);
    if (parsed !== undefined) return factsOf(parsed);
  }
  return { message: start.slice(0, maxTextLength), text: start.slice(0, maxTextLength), parameter: undefined };
}

/** Reads a value that was parsed already, such as the `error` member of a streamed event. */
export function factsOf(value: unknown): FailureFacts {
  const strings: string[] = [];
  collect(value, strings, 0);
  return {
    message: messageOf(value, 0) ?? '',
    text: strings.join('\n').slice(0, maxTextLength),
    parameter: parameterOf(value, 0),
  };
}

function headings(page: string): string {
  const found = page.slice(0, maxTextLength).matchAll(/<(?:title|h1)\b[^<>]{0,200}>([^<]{1,300})/gi);
  return Array.from(found, ([, text]) => text?.trim()).join('\n');
}

function collect(value: unknown, into: string[], depth: number): void {
  if (into.length >= maxStrings || depth > maxDepth) return;
  if (typeof value === 'string' || typeof value === 'number') {
    const nested = typeof value === 'string' ? parseNested(value) : undefined;
    if (nested === undefined) into.push(String(value).slice(0, maxTextLength));
    else collect(nested, into, depth + 1);
  } else if (Array.isArray(value)) {
    for (const item of value.slice(0, maxStrings)) collect(item, into, depth + 1);
  } else if (isRecord(value)) {
    for (const [name, member] of Object.entries(value).slice(0, maxStrings)) {
      if (factNames.has(name.toLowerCase())) collect(member, into, depth + 1);
    }
  }
}

/** Messages of a router often have the first provider's whole response as text. */
function parseNested(text: string): unknown {
  return text.startsWith('{') && text.endsWith('}') ? parse(text) : undefined;
}

const messageNames = [
  ...['message', 'error', 'errors', 'detail', 'msg', 'error_message', 'error_msg', 'errorMessage', 'status_msg'],
  ...['error_description', 'title'],
];

function messageOf(value: unknown, depth: number): string | undefined {
  if (depth > maxDepth) return undefined;
  if (typeof value === 'string') {
    const nested = parseNested(value);
    return nested === undefined ? value.slice(0, maxTextLength) : messageOf(nested, depth + 1);
  }
  if (Array.isArray(value)) return messageOf(value[0], depth + 1);
  if (!isRecord(value)) return undefined;
  const raw = isRecord(value.metadata) ? messageOf(value.metadata.raw, depth + 1) : undefined;
  if (raw !== undefined) return raw;
  const inner = isRecord(value.error) ? messageOf(value.error, depth + 1) : undefined;
  if (inner !== undefined) return inner;
  for (const name of messageNames) {
    const found = messageOf(value[name], depth + 1);
    if (found !== undefined && found !== '') return found;
  }
  return undefined;
}

function parameterOf(value: unknown, depth: number): string | undefined {
  if (depth > 3) return undefined;
  if (Array.isArray(value)) return parameterOf(value[0], depth + 1);
  if (!isRecord(value)) return undefined;
  if (typeof value.param === 'string') return fieldName(value.param);
  if (Array.isArray(value.loc)) return fieldName(value.loc.filter((part) => part !== 'body').join('.'));
  for (const member of [value.error, value.detail, value.message]) {
    const found = parameterOf(member, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const quoted = [
  /\b(?:parameter|argument|value|field|property|name)s?:?(?: supplied:?)? ?["'`]?([a-z_][\w.[\]]{1,60})["'`]?/i,
  /["'`]([a-z_][\w.[\]]{1,60})["'`]? (?:is|may|cannot|does|are|must)\b/i,
  /^([a-z_][\w.[\]]{1,60}): /im,
];

/** The parameter that a sentence names, such as `temperature`. */
export function namedParameter(text: string): string | undefined {
  for (const pattern of quoted) {
    const name = pattern.exec(text)?.[1];
    if (name !== undefined && /_|^(?:temperature|seed|stop|verbosity|thinking|reasoning|store|user|n)\b/.test(name)) {
      return fieldName(name);
    }
  }
  return undefined;
}

function fieldName(name: string): string | undefined {
  return /^[a-z_][\w.[\]]{0,80}$/i.test(name) ? name : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
