import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getDocumentProxy } from 'unpdf';
import { type DocumentBounds, DocumentRefused, damaged, locked } from '../../document.ts';
import { Enough, type PageWriter } from '../../page-writer.ts';
import { readAnnotations, withValues } from './pdf-annotations.ts';
import { layOut } from './pdf-layout.ts';
import type { Piece } from './pdf-lines.ts';

const named = 12;

/**
 * PDF: the text of each page as its program placed it. Fonts are not drawn, nothing is fetched, no code of the file
 * runs.
 */
export async function readPdf(bytes: Uint8Array, writer: PageWriter, bounds: DocumentBounds): Promise<void> {
  const pdf = await open(bytes);
  const silent: number[] = [];
  const broken: number[] = [];
  let characters = 0;
  try {
    for (let number = 1; number <= pdf.numPages; number += 1) {
      writer.begin();
      const text = await pageText(pdf, number).catch(() => undefined);
      if (text === undefined) broken.push(number);
      else if (text.trim() === '') silent.push(number);
      characters += text?.trim().length ?? 0;
      writer.add(text ?? '');
    }
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  } finally {
    // A file made to be slow must not hold up its end as well; the thread goes anyway.
    void pdf.loadingTask.destroy().catch(() => undefined);
  }
  const read = Math.min(pdf.numPages, bounds.maxPages);
  if (broken.length === read) throw damaged();
  if (characters === 0) throw scanned();
  if (silent.length > 0) {
    const message = `There is no text on ${pagesOf(silent)}. Scanned pages and pictures are not read.`;
    writer.warn('pages_without_text', message);
  }
  if (broken.length > 0) writer.warn('pages_unreadable', `The file is damaged: ${pagesOf(broken)} cannot be read.`);
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

async function open(bytes: Uint8Array): Promise<Pdf> {
  try {
    return await getDocumentProxy(bytes, {
      disableFontFace: true,
      useSystemFonts: false,
      enableXfa: false,
      cMapUrl: characterMaps(),
      cMapPacked: true,
      verbosity: 0,
    });
  } catch (error) {
    throw error instanceof Error && error.name === 'PasswordException' ? locked() : damaged(error);
  }
}

async function pageText(pdf: Pdf, number: number): Promise<string> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  const lines: Piece[][] = [[]];
  for (const item of items) {
    if (!('str' in item)) continue;
    lines.at(-1)?.push(item);
    if (item.hasEOL) lines.push([]);
  }
  const { values, comments } = await readAnnotations(page).catch(() => ({ values: [], comments: [] }));
  page.cleanup();
  return [layOut(withValues(lines, values)), ...comments].join('\n');
}

/** Tables of the character codes that Chinese, Japanese and Korean fonts use; beside the bundle, or in their package. */
function characterMaps(): string {
  const isBuilt = !import.meta.url.endsWith('.ts');
  if (isBuilt) return fileURLToPath(new URL('./cmaps/', import.meta.url));
  return join(dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json')), 'cmaps/');
}

function pagesOf(numbers: readonly number[]): string {
  const first = numbers.slice(0, named).join(', ');
  const more = numbers.length - named;
  return `${numbers.length === 1 ? 'page' : 'pages'} ${first}${more > 0 ? ` and ${more} more` : ''}`;
}

function scanned(): DocumentRefused {
  return new DocumentRefused(
    'no_text',
    'There is no text in this file. Its pages are probably scanned; attach them as pictures, or a copy with recognized text.',
  );
}
