/** PostgreSQL URLs as people write them, and as node-postgres reads them correctly. */

type Pieces = { authority: string; path: string; query: string; hash: string };

const scheme = /^postgres(?:ql)?:\/\//i;
const escapes = new Map([
  ['#', '%23'],
  ['/', '%2F'],
  ['?', '%3F'],
  ['%', '%25'],
]);

/**
 * The URL with the changes that node-postgres needs; undefined if it is invalid. An empty host (`u:p@/db?host=/dir`)
 * becomes `localhost`, which the query's `host` overrides; the TLS modes that node-postgres treats as `verify-full`
 * become that, because it prints a warning about each of them.
 */
export function parsePostgresUrl(given: string): string | undefined {
  if (!scheme.test(given) || unencoded(given).length > 0) return undefined;
  const url = withHost(given.replaceAll(' ', '%20').replace(/%(?![0-9a-f]{2})/gi, '%25'));
  if (!URL.canParse(url)) return undefined;
  if (/[?&]uselibpqcompat=true(?:&|#|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/g, '$1verify-full');
}

/** Advice on an invalid URL, which names at most single characters of it. */
export function adviseOnPostgresUrl(given: string): string | undefined {
  if (!scheme.test(given)) return undefined;
  const found = unencoded(given);
  if (found.length === 0) return 'check its host and its port';
  const list = found.map((character) => `${JSON.stringify(character)} as ${escapes.get(character)}`).join(' and ');
  return `in the user name and the password, write ${list}`;
}

/** Reserved characters in the user name or the password that end it too early, or cannot be decoded. */
function unencoded(given: string): string[] {
  const { authority, path, query, hash } = piecesOf(given);
  const rest = `${path}${query}${hash}`;
  const isCut =
    path.includes('@') ||
    hash.includes('@') ||
    /^\?[^=]*@/.test(query) ||
    (!authority.includes('@') && /@[^/&@]*\/[^&]/.test(query)) ||
    (rest.includes('@') && !URL.canParse(withHost(given)));
  const end = isCut ? authority.length + rest.lastIndexOf('@') : authority.lastIndexOf('@');
  const user = `${authority}${rest}`.slice(0, Math.max(end, 0));
  const found = ['#', '/', '?'].filter((character) => user.includes(character));
  return canDecode(user) ? found : [...found, '%'];
}

function piecesOf(given: string): Pieces {
  const [, authority = '', path = '', query = '', hash = ''] =
    /^[a-z]+:\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(given) ?? [];
  return { authority, path, query, hash };
}

/** False for escapes that are not UTF-8; a lone `%` is escaped by `parsePostgresUrl`. */
function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, '%25'));
    return true;
  } catch {
    return false;
  }
}

function withHost(url: string): string {
  return url.replace(/^([a-z]+:\/\/[^/?#]*@)(?=[:/?#]|$)/i, '$1localhost');
}
