/** How a block of code can be shown besides as text. */
export type PreviewKind = 'html' | 'svg' | 'react' | 'markdown' | 'table' | 'diagram';

const kinds: readonly [RegExp, PreviewKind][] = [
  [/^(?:x?html?)$/, 'html'],
  [/^svg$/, 'svg'],
  [/^(?:[jt]sx|(?:java|type)scriptreact|react)$/, 'react'],
  [/^(?:md|markdown)$/, 'markdown'],
  [/^[ct]sv$/, 'table'],
  [/^mermaid$/, 'diagram'],
];

/** Languages that models put on pages and pictures that they don't name. */
const unnamed = /^(?:|text|txt|plaintext|xml)$/;
const beginning =
  /^\s{0,100}(?:<\?xml[^>]{0,200}\?>\s{0,100})?(?:<!--[^>]{0,500}-->\s{0,100})?<(!doctype\s{1,9}html|html|svg)\b/i;

/** The preview of a code block by the word after its fence, or by its beginning; undefined if there is none. */
export function previewKindOf(language: string, code: string): PreviewKind | undefined {
  const name = language.toLowerCase();
  const known = kinds.find(([pattern]) => pattern.test(name));
  if (known) return known[1];
  const tag = unnamed.test(name) ? beginning.exec(code)?.[1] : undefined;
  if (tag === undefined) return undefined;
  return tag.toLowerCase() === 'svg' ? 'svg' : 'html';
}
