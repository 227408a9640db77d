import type { PDFPageProxy } from 'unpdf/pdfjs';
import type { Piece } from './pdf-lines.ts';

/** The values of form fields in their places on the page, and the comments on it. */

export type Annotations = { values: FormValue[]; comments: string[] };
type FormValue = { name: string; text: string; left: number; bottom: number; right: number; top: number };

type Annotation = Awaited<ReturnType<PDFPageProxy['getAnnotations']>>[number];

const mostAnnotations = 5_000;
const longestText = 20_000;
const noComments = new Set(['Link', 'Popup', 'Widget']);

export async function readAnnotations(page: PDFPageProxy): Promise<Annotations> {
  const all: Annotation[] = (await page.getAnnotations()).slice(0, mostAnnotations);
  const drawn = all.some(isDrawnOnly) ? await drawnTexts(page) : new Map<string, string>();
  const values: FormValue[] = [];
  const comments: string[] = [];
  for (const annotation of all) {
    const text = asText(annotation.subtype === 'Widget' ? fieldText(annotation) : commentOf(annotation));
    const shown = text !== '' ? text : (drawn.get(String(annotation.id)) ?? '');
    if (shown === '') continue;
    if (annotation.subtype === 'Widget') values.push(placed(annotation, shown));
    else comments.push(`[Comment${authorOf(annotation)}: ${shown}]`);
  }
  return { values, comments };
}

function asText(text: string): string {
  return text.slice(0, longestText).replace(/\r\n?/g, '\n').trim();
}

function placed({ fieldName, alternativeText, rect }: Annotation, text: string): FormValue {
  const [left = 0, bottom = 0, right = 0, top = 0] = Array.isArray(rect) ? rect.map(Number) : [];
  return { name: String(alternativeText || fieldName || ''), text, left, bottom, right, top };
}

/** Lists show the words of their choices, not the values that are sent. */
function fieldText(field: Annotation): string {
  const { fieldType, fieldValue, options } = field;
  if (field.password === true) return '';
  if (fieldType === 'Btn') return buttonOf(field);
  const chosen = (Array.isArray(fieldValue) ? fieldValue : [fieldValue]).filter((one) => typeof one === 'string');
  if (fieldType !== 'Ch' || !Array.isArray(options)) return chosen.join(', ');
  const known = options as { exportValue?: string; displayValue?: string }[];
  return chosen
    .map((one) => known.find(({ exportValue }) => exportValue === one)?.displayValue ?? one)
    .filter((one) => one !== '')
    .join(', ');
}

function buttonOf({ checkBox, radioButton, fieldValue, exportValue, buttonValue }: Annotation): string {
  if (checkBox === true) return mark(fieldValue === exportValue || (fieldValue === 'On' && exportValue === undefined));
  return radioButton === true ? mark(fieldValue !== null && fieldValue === buttonValue) : '';
}

function mark(isChosen: boolean): string {
  return isChosen ? '[x]' : '[ ]';
}

function commentOf({ subtype, contentsObj, textContent }: Annotation): string {
  if (noComments.has(String(subtype))) return '';
  const words = String(contentsObj?.str ?? '');
  return words.trim() === '' && Array.isArray(textContent) ? textContent.join('\n') : words;
}

function authorOf({ titleObj }: Annotation): string {
  const name = String(titleObj?.str ?? '')
    .slice(0, 200)
    .trim();
  return name === '' ? '' : ` by ${name}`;
}

/** Signatures and stamps have their words only in a picture that is drawn with letters. */
function isDrawnOnly(annotation: Annotation): boolean {
  const isSigned = annotation.subtype === 'Widget' && (annotation.fieldType === 'Sig' || isFilledByDrawing(annotation));
  return (isSigned || annotation.subtype === 'Stamp') && annotation.hasAppearance !== false;
}

function isFilledByDrawing({ fieldType, fieldValue, hasAppearance }: Annotation): boolean {
  return fieldType === 'Tx' && hasAppearance === true && (fieldValue === '' || fieldValue === null);
}

const beginAnnotation = 80;
const endAnnotation = 81;
const beginText = 31;
const moveText = new Set([40, 41, 42, 43]);
const showText = 44;

/** The letters that each annotation draws, by its id. */
async function drawnTexts(page: PDFPageProxy): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const { fnArray, argsArray } = await page.getOperatorList();
  let id: string | undefined;
  let text = '';
  for (const [index, operation] of fnArray.entries()) {
    const given: unknown[] = argsArray[index] ?? [];
    if (operation === beginAnnotation) {
      id = String(given[0]);
      text = '';
    } else if (operation === endAnnotation && id !== undefined) {
      texts.set(id, asText(text.replace(/\n{2,}/g, '\n')));
      id = undefined;
    } else if (id === undefined || text.length > longestText) continue;
    else if (operation === beginText || moveText.has(operation)) text += '\n';
    else if (operation === showText && Array.isArray(given[0])) text += lettersOf(given[0]);
  }
  return texts;
}

/** Numbers between the letters move them apart. */
function lettersOf(glyphs: readonly unknown[]): string {
  let text = '';
  for (const glyph of glyphs) {
    if (typeof glyph === 'object' && glyph !== null && 'unicode' in glyph) text += String(glyph.unicode);
    else if (typeof glyph === 'number' && glyph < -200) text += ' ';
  }
  return text;
}

/** Puts the values into the lines at their height; those beside no line become lines of their own, with their names. */
export function withValues(lines: readonly Piece[][], values: readonly FormValue[]): Piece[][] {
  const filled = lines.map((line) => [...line]);
  for (const value of values.toSorted((a, b) => a.left - b.left)) {
    const at = filled.findIndex((line) => isBeside(line, value));
    const line = filled[at];
    if (line !== undefined) insert(line, pieceOf(value, value.text, line));
    else filled.splice(placeOf(filled, value), 0, [pieceOf(value, named(value))]);
  }
  return filled;
}

function named({ name, text }: FormValue): string {
  return name === '' ? text : `${name}: ${text}`;
}

function isBeside(line: readonly Piece[], { bottom, top }: FormValue): boolean {
  const first = line.find(({ str }) => str.trim() !== '');
  const y = first?.transform[5];
  return y !== undefined && y > bottom - 4 && y + (first?.height ?? 0) / 2 < top + 4;
}

function placeOf(lines: readonly Piece[][], { bottom }: FormValue): number {
  const below = lines.findIndex((line) => (line[0]?.transform[5] ?? Number.POSITIVE_INFINITY) < bottom);
  return below === -1 ? lines.length : below;
}

function insert(line: Piece[], piece: Piece): void {
  const start = piece.transform[4] ?? 0;
  const next = line.findIndex(({ transform }) => (transform[4] ?? 0) > start);
  const at = next === -1 ? line.length : next;
  const blank = { ...piece, str: ' ', width: 0 };
  line.splice(at, 0, ...(at > 0 ? [blank] : []), piece, ...(next === -1 ? [] : [blank]));
}

function pieceOf({ left, bottom, right, top }: FormValue, text: string, line: readonly Piece[] = []): Piece {
  const height = line.find(({ str }) => str.trim() !== '')?.height ?? Math.min(12, top - bottom);
  const y = line[0]?.transform[5] ?? bottom;
  return { str: text, dir: 'ltr', transform: [1, 0, 0, 1, left, y], width: right - left, height, hasEOL: false };
}
