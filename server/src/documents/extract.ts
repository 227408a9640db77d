import { type DocumentBounds, DocumentRefused, damaged, type ExtractedDocument } from './document.ts';
import { type KnownFile, recognize } from './kinds.ts';
import { Enough, PageWriter } from './page-writer.ts';

/**
 * The text of a file, page by page. Throws DocumentRefused with words for the person. Takes its time: runs on a thread
 * of its own.
 */
export async function extractDocument(bytes: Buffer, bounds: DocumentBounds): Promise<ExtractedDocument> {
  const known = recognize(bytes, bounds.maxUnpackedBytes);
  const writer = new PageWriter(bounds, unitOf(known.kind));
  try {
    await read(bytes, known, writer, bounds);
  } catch (error) {
    // If the text limit was reached, the text read so far is kept.
    if (error instanceof DocumentRefused) throw error;
    if (!(error instanceof Enough)) throw damaged(error);
  }
  const { pages, warnings } = writer.finish();
  if (pages.every(({ text }) => text === '')) throw new DocumentRefused('no_text', 'There is no text in this file.');
  return { kind: known.kind, pages, warnings };
}

function unitOf(kind: KnownFile['kind']): PageWriter['unit'] {
  if (kind === 'pdf') return 'page';
  return kind === 'pptx' || kind === 'odp' ? 'slide' : 'part';
}

/** Each reader is loaded when it is first needed. */
async function read(
  bytes: Buffer,
  { kind, zip }: KnownFile,
  writer: PageWriter,
  bounds: DocumentBounds,
): Promise<void> {
  if (kind === 'pdf') return (await import('./readers/pdf/pdf.ts')).readPdf(new Uint8Array(bytes), writer, bounds);
  if (kind === 'rtf') return (await import('./readers/rtf.ts')).readRtf(bytes, writer);
  if (kind === 'html') return (await import('./readers/html.ts')).readHtml(bytes, writer);
  if (kind === 'eml') return (await import('./readers/eml.ts')).readEml(bytes, writer);
  if (zip === undefined) return (await import('./readers/text.ts')).readText(bytes, writer);
  if (kind === 'docx') return (await import('./readers/word/docx.ts')).readDocx(zip, writer);
  if (kind === 'xlsx') return (await import('./readers/xlsx/xlsx.ts')).readXlsx(zip, writer);
  if (kind === 'pptx') return (await import('./readers/pptx.ts')).readPptx(zip, writer);
  if (kind === 'epub') return (await import('./readers/epub.ts')).readEpub(zip, writer);
  if (kind === 'odt' || kind === 'ods' || kind === 'odp') {
    return (await import('./readers/odf/odf.ts')).readOdf(zip, kind, writer);
  }
}
