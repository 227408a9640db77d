/**
 * `attachment` with a name that every browser saves correctly (RFC 6266, RFC 8187) and that cannot break out of its
 * header.
 */
export function attachment(filename: string): string {
  return disposition('attachment', filename);
}

/** The same for content that is safe to show. */
export function inline(filename: string): string {
  return disposition('inline', filename);
}

function disposition(kind: 'attachment' | 'inline', filename: string): string {
  const name = filename.toWellFormed();
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]|["\\%]/gu, '_');
  if (plain === name) return `${kind}; filename="${plain}"`;
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encodeExtended(name)}`;
}

function encodeExtended(name: string): string {
  return name.replace(/[^A-Za-z0-9!#$&+.^_`|~-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
