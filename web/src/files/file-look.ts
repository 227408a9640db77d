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
import { i18n } from '../i18n.ts';

/** How a file is shown to look at; `none` can only be downloaded. */
export type PreviewKind = 'image' | 'pdf' | 'table' | 'markdown' | 'text' | 'none';

const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml']);
const texts =
  /^(?:text\/|application\/(?:json|xml|javascript|typescript|yaml|x-yaml|toml|x-sh|sql|x-ndjson)|[\w.-]+\/[\w.-]+\+(?:json|xml)$)/;

/** A media type may carry parameters. */
export function previewKind({ mediaType, filename }: { mediaType: string; filename: string }): PreviewKind {
  const type = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  if (pictures.has(type)) return 'image';
  if (type === 'application/pdf') return 'pdf';
  if (type === 'text/csv' || type === 'text/tab-separated-values' || /\.(?:csv|tsv)$/i.test(filename)) return 'table';
  if (type === 'text/markdown' || /\.(?:md|markdown)$/i.test(filename)) return 'markdown';
  return texts.test(type) ? 'text' : 'none';
}

export function extensionOf(filename: string): string {
  return /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';
}

export function fileIcon(file: { mediaType: string; filename: string }): LucideIcon {
  const kind = previewKind(file);
  if (kind === 'image') return FileImage;
  if (kind === 'table') return FileSpreadsheet;
  if (kind === 'pdf' || kind === 'markdown' || file.mediaType.startsWith('text/plain')) return FileText;
  if (kind === 'text') return FileCode;
  if (/^(?:audio|video)\//.test(file.mediaType)) return FileMusic;
  return /zip|tar|compress|7z|rar/.test(file.mediaType) ? FileArchive : File;
}

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** `1.2 MB` in the language on the screen. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let at = 0;
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000;
    at += 1;
  }
  const digits = at === 0 || value >= 100 ? 0 : 1;
  const format = {
    style: 'unit',
    unit: units[at],
    unitDisplay: at === 0 ? 'long' : 'short',
    maximumFractionDigits: digits,
  } as const;
  return new Intl.NumberFormat(i18n.locale, format).format(value);
}
