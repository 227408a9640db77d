import type { DocumentKind } from '../document.ts';
import { relationsOf } from './relations.ts';
import { readXml } from './xml.ts';
import type { ZipFile } from './zip.ts';

/** The main part of an Office file (ECMA-376 part 2): found by its relation, because programs name it as they like. */

export type MainPart = { path: string; kind: DocumentKind | 'xlsb' };

const usual: [path: string, kind: DocumentKind | 'xlsb'][] = [
  ['word/document.xml', 'docx'],
  ['xl/workbook.xml', 'xlsx'],
  ['ppt/presentation.xml', 'pptx'],
  ['xl/workbook.bin', 'xlsb'],
];
/** Words in the content types of main parts, also of templates, macros and slide shows. */
const contents: [type: RegExp, kind: DocumentKind | 'xlsb'][] = [
  [/excel\.sheet\.binary/i, 'xlsb'],
  [/wordprocessingml|ms-word\./i, 'docx'],
  [/spreadsheetml|ms-excel\./i, 'xlsx'],
  [/presentationml|ms-powerpoint\./i, 'pptx'],
];

export function findMainPart(zip: ZipFile): MainPart | undefined {
  const path = [...relationsOf(zip, '').values()].find(({ type }) => type.endsWith('/officeDocument'))?.target;
  if (path !== undefined && zip.has(path)) {
    const type = contentTypeOf(zip, path);
    const kind = contents.find(([known]) => known.test(type))?.[1] ?? usual.find(([name]) => name === path)?.[1];
    if (kind !== undefined) return { path, kind };
  }
  const [name, kind] = usual.find(([known]) => zip.has(known)) ?? [];
  return name === undefined || kind === undefined ? undefined : { path: name, kind };
}

/** The path of the main part, or the usual one where a file does not say. */
export function mainPathOf(zip: ZipFile, otherwise: string): string {
  return findMainPart(zip)?.path ?? otherwise;
}

function contentTypeOf(zip: ZipFile, path: string): string {
  let type = '';
  readXml(zip.read('[Content_Types].xml') ?? Buffer.alloc(0), {
    open(name, { PartName, ContentType }) {
      if (name === 'Override' && PartName?.toLowerCase() === `/${path}`.toLowerCase()) type = ContentType ?? '';
    },
  });
  return type;
}
