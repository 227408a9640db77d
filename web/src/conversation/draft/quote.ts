/** A draft with a quotation at its end, ready to be answered. */
export function withQuote(draft: string, quoted: string): string {
  const lines = quoted.split('\n').map((line) => (line === '' ? '>' : `> ${line}`));
  const before = draft.trimEnd();
  return `${before}${before === '' ? '' : '\n\n'}${lines.join('\n')}\n\n`;
}
