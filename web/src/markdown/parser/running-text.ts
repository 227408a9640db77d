import type { Token } from 'marked';
import { decodeEntities } from './entities.ts';

/** The characters that a text token stands for: references decoded, no blanks around the breaks of its lines. */
export function runningText(source: string): string {
  if (!source.includes('\n')) return decodeEntities(source);
  const lines = source.split('\n');
  return decodeEntities(
    lines.map((line, index) => withoutBlanks(line, index > 0, index < lines.length - 1)).join('\n'),
  );
}

/** The words of tokens, for a description that has no marks. */
export function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if ('tokens' in token && token.tokens) return plainText(token.tokens);
      if (token.type === 'codespan') return String(token.text);
      return 'text' in token ? runningText(String(token.text)) : '';
    })
    .join('');
}

function withoutBlanks(line: string, atStart: boolean, atEnd: boolean): string {
  let start = 0;
  let end = line.length;
  while (atStart && start < end && isBlank(line[start])) start += 1;
  while (atEnd && end > start && isBlank(line[end - 1])) end -= 1;
  return line.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}
