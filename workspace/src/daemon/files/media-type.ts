/**
 * A file's type: by its first bytes if they tell, otherwise by its name. For display only; no decision depends on it.
 */

const typesOfExtension: Record<string, string> = {
  txt: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  html: 'text/html',
  htm: 'text/html',
  css: 'text/css',
  xml: 'application/xml',
  js: 'text/javascript',
  mjs: 'text/javascript',
  cjs: 'text/javascript',
  json: 'application/json',
  jsonl: 'application/jsonl',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  toml: 'application/toml',
  svg: 'image/svg+xml',
  py: 'text/x-python',
  sh: 'application/x-sh',
  sql: 'application/sql',
  pdf: 'application/pdf',
  zip: 'application/zip',
  gz: 'application/gzip',
  tar: 'application/x-tar',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  webm: 'video/webm',
};

/** Bytes shown as they are, as text, or not at all (contract.md section 8). `isCut`: there are more bytes. */
export function describe(
  head: Buffer,
  name: string,
  isCut: boolean,
): { mediaType: string; encoding: 'utf-8' | 'base64' | 'none'; content: string } {
  const image = sniffImage(head);
  if (image !== undefined) return { mediaType: image, encoding: 'base64', content: head.toString('base64') };
  const text = decodeText(head, isCut);
  const named = typesOfExtension[/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''];
  if (text !== undefined) return { mediaType: named ?? 'text/plain', encoding: 'utf-8', content: text };
  const isPdf = head.subarray(0, 5).toString('latin1') === '%PDF-';
  return { mediaType: isPdf ? 'application/pdf' : notText(named), encoding: 'none', content: '' };
}

/** The bytes as text, undefined if they are not UTF-8; with `isCut`, a character cut off at the end is dropped. */
function decodeText(bytes: Buffer, isCut: boolean): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

function sniffImage(head: Buffer): string | undefined {
  const start = head.subarray(0, 12).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(start)) return 'image/gif';
  return start.startsWith('RIFF') && start.slice(8) === 'WEBP' ? 'image/webp' : undefined;
}

/** A name that promises text or a picture does not make it one. */
function notText(named: string | undefined): string {
  return named === undefined || /^(text|image)\/|json|yaml|toml|xml|sql|-sh$/.test(named)
    ? 'application/octet-stream'
    : named;
}
