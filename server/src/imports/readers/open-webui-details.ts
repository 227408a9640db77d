import { type Piece, reasoningPiece, textPiece } from './pieces.ts';
import { jsonOrText } from './values.ts';

/** Answers of older Open WebUI hold reasoning and tool calls as HTML: `<details type="…">`. */

const blockStart = /<details\b([^<>]{0,200000})>/i;

export function detailPieces(content: string): Piece[] {
  const pieces: Piece[] = [];
  let rest = content;
  for (let count = 0; count < 1000; count += 1) {
    const start = blockStart.exec(rest);
    if (start === null) break;
    const end = rest.indexOf('</details>', start.index);
    if (end === -1) break;
    const inner = rest.slice(start.index + start[0].length, end);
    const block = blockPieces(attributesOf(start[1] ?? ''), inner);
    if (block === undefined) {
      pieces.push(...textPiece(rest.slice(0, end + '</details>'.length)));
    } else pieces.push(...textPiece(rest.slice(0, start.index).trim()), ...block);
    rest = rest.slice(end + '</details>'.length);
  }
  return [...pieces, ...textPiece(pieces.length === 0 ? rest : rest.trim())];
}

function blockPieces(attributes: Map<string, string>, inner: string): Piece[] | undefined {
  const type = attributes.get('type');
  const body = withoutSummary(inner).trim();
  if (type === 'reasoning') return reasoningPiece(decoded(body).replace(/^> ?/gm, ''));
  if (type !== 'tool_calls' && type !== 'code_interpreter') return undefined;
  const callId = attributes.get('id') ?? '';
  const name = attributes.get('name') ?? type;
  const given = attributes.get('arguments');
  const input = given === undefined ? { code: decoded(body) } : jsonOrText(unquote(given));
  const result = attributes.get('result') ?? attributes.get('output');
  const call: Piece = { type: 'call', callId, name, input: typeof input === 'string' ? { input } : input };
  return result === undefined ? [call] : [call, { type: 'result', callId, name, output: unquote(result) }];
}

function withoutSummary(inner: string): string {
  const start = inner.search(/<summary>/i);
  if (start === -1) return inner;
  const length = inner.slice(start).search(/<\/summary>/i);
  return length === -1 ? inner : inner.slice(0, start) + inner.slice(start + length + '</summary>'.length);
}

function attributesOf(tag: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, key = '', value = ''] of tag.matchAll(/(?<![\w-])([\w-]{1,40})="([^"]*)"/g)) {
    found.set(key.toLowerCase(), decoded(value));
  }
  return found;
}

/** Values are JSON texts of texts now and then. */
function unquote(value: string): string {
  const parsed = value.startsWith('"') ? jsonOrTextOf(value) : value;
  return parsed;
}

function jsonOrTextOf(value: string): string {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'string' ? parsed : value;
  } catch {
    return value;
  }
}

const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  '#x27': "'",
  '#39': "'",
  amp: '&',
  '#34': '"',
};

function decoded(value: string): string {
  return value.replace(/&(lt|gt|quot|#x27|#39|#34|amp);/g, (whole, entity: string) => entities[entity] ?? whole);
}
