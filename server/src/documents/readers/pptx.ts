import type { PageWriter } from '../page-writer.ts';
import { mainPathOf } from './main-part.ts';
import { relationsOf } from './relations.ts';
import { readXml, relationId } from './xml.ts';
import type { ZipFile } from './zip.ts';

/** More than the pages that are read. */
const mostSlides = 20_000;

/** PowerPoint (ECMA-376): the slides in the order they are shown, each with its notes. */
export function readPptx(zip: ZipFile, writer: PageWriter): void {
  const main = mainPathOf(zip, 'ppt/presentation.xml');
  const relations = relationsOf(zip, main);
  const slides: string[] = [];
  readXml(zip.need(main), {
    open(name, attributes) {
      if (name !== 'sldId') return;
      const slide = relations.get(relationId(attributes) ?? '')?.target;
      if (slide !== undefined && slides.length < mostSlides) slides.push(slide);
    },
  });
  for (const slide of slides) {
    writer.begin();
    const bytes = zip.read(slide);
    if (bytes === undefined) continue;
    writer.add(slideText(bytes));
    const notes = [...relationsOf(zip, slide).values()].find(({ type }) => type.endsWith('/notesSlide'));
    const text = notes === undefined ? '' : slideText(zip.read(notes.target) ?? Buffer.alloc(0)).trim();
    if (text !== '') writer.add(`\nNotes:\n${text}`);
  }
}

function slideText(bytes: Buffer): string {
  const pieces: string[] = [];
  let inText = false;
  let cells = 0;
  // The number of a slide is a field, and says nothing.
  let inNumber = false;
  readXml(bytes, {
    open(name, attributes) {
      if (name === 't') inText = true;
      else if (name === 'br') pieces.push('\n');
      else if (name === 'tc') cells += 1;
      else if (name === 'fld') inNumber = attributes.type === 'slidenum';
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'p') pieces.push(cells > 0 ? ' ' : '\n');
      else if (name === 'tc') {
        cells -= 1;
        pieces.push('\t');
      } else if (name === 'tr') pieces.push('\n');
      else if (name === 'fld') inNumber = false;
    },
    text(text) {
      if (inText && !inNumber) pieces.push(text);
    },
  });
  return pieces.join('');
}
