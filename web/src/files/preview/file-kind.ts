import {
  File,
  FileArchive,
  FileCode,
  FileImage,
  FileMusic,
  FileSpreadsheet,
  FileText,
  type LucideIcon,
} from 'lucide-react';
import { grammarName } from '../../markdown/code/language-names.ts';

/** How a file is previewed; `none` can only be downloaded. */
export type PreviewKind = 'image' | 'pdf' | 'table' | 'markdown' | 'html' | 'svg' | 'react' | 'text' | 'none';

const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);
const texts =
  /^(?:text\/|application\/(?:json|xml|javascript|typescript|yaml|x-yaml|toml|x-sh|sql|x-ndjson)|[\w.-]+\/[\w.-]+\+(?:json|xml)$)/;

const endings: readonly [RegExp, LucideIcon][] = [
  [/^(?:png|jpe?g|gif|webp|avif|bmp|ico|svg)$/, FileImage],
  [/^(?:csv|tsv|xlsx?|ods)$/, FileSpreadsheet],
  [/^(?:md|markdown|txt|pdf|docx?|odt|rtf)$/, FileText],
  [/^(?:mp3|wav|ogg|flac|m4a|mp4|webm|mov)$/, FileMusic],
  [/^(?:zip|tar|t?gz|bz2|xz|7z|rar)$/, FileArchive],
];

/** A media type may carry parameters. */
export function previewKind({ mediaType, filename }: { mediaType: string; filename: string }): PreviewKind {
  const type = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  if (pictures.has(type)) return 'image';
  if (type === 'application/pdf') return 'pdf';
  if (type === 'text/csv' || type === 'text/tab-separated-values' || /\.(?:csv|tsv)$/i.test(filename)) return 'table';
  if (type === 'text/markdown' || /\.(?:md|markdown)$/i.test(filename)) return 'markdown';
  if (type === 'text/html' || /\.html?$/i.test(filename)) return 'html';
  if (type === 'image/svg+xml' || /\.svg$/i.test(filename)) return 'svg';
  if (/\.[jt]sx$/i.test(filename)) return 'react';
  return texts.test(type) ? 'text' : 'none';
}

export function extensionOf(filename: string): string {
  return /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';
}

/** Kind of a file by its extension, which every list has, so that icons agree; otherwise by its media type. */
export function fileIcon(file: { mediaType: string; filename: string }): LucideIcon {
  const ending = extensionOf(file.filename);
  const known = endings.find(([pattern]) => pattern.test(ending));
  if (known) return known[1];
  if (grammarName(ending) !== undefined) return FileCode;
  const kind = previewKind(file);
  if (kind === 'image' || kind === 'svg') return FileImage;
  if (kind === 'table') return FileSpreadsheet;
  if (kind === 'pdf' || kind === 'markdown' || file.mediaType.startsWith('text/plain')) return FileText;
  if (kind === 'text') return FileCode;
  if (/^(?:audio|video)\//.test(file.mediaType)) return FileMusic;
  return /zip|tar|compress|7z|rar/.test(file.mediaType) ? FileArchive : File;
}
