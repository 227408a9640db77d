const reference = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z][a-z0-9]{1,31}));/gi;
const known = new Map<string, string>();
const knownAtMost = 3_000;

/** Markdown's character references as characters: numeric ones and the names of HTML; unknown names stay as written. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(reference, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return decodeName(whole);
    const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : '\ufffd';
  });
}

function decodeName(whole: string): string {
  const before = known.get(whole);
  if (before !== undefined) return before;
  const decoded = decodeInBrowser(whole);
  if (known.size < knownAtMost) known.set(whole, decoded);
  return decoded;
}

/**
 * The browser's own table of 2,125 names, which would be 20 kB of ours; no markup can reach its parser. It also accepts a known beginning of an unknown name (`&notit;`), which
 * Markdown does not: then the semicolon is left over.
 */
function decodeInBrowser(whole: string): string {
  const element = document.createElement('textarea');
  element.innerHTML = whole;
  const decoded = element.value;
  return decoded.endsWith(';') && whole !== '&semi;' ? whole : decoded;
}
