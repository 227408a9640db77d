import { DocumentRefused, locked } from './document.ts';

/** Files in Microsoft's compound format, by the names of the streams in them: each is refused with what to do. */

const streams: [name: string, advice: string][] = [
  ['__properties_version1.0', 'This is an Outlook message (.msg), which cannot be read. Save it as .eml or as text.'],
  ['WordDocument', 'This is an old Word file (.doc), which cannot be read. Save it as .docx.'],
  ['PowerPoint Document', 'This is an old PowerPoint file (.ppt), which cannot be read. Save it as .pptx.'],
  ['Workbook', 'This is an old Excel file (.xls), which cannot be read. Save it as .xlsx.'],
  ['Book', 'This is an old Excel file (.xls), which cannot be read. Save it as .xlsx.'],
  ['VisioDocument', 'This is an old Visio file (.vsd), which cannot be read. Save it as PDF.'],
  ['Quill', 'This is a Publisher file (.pub), which cannot be read. Save it as PDF.'],
];
const otherAdvice =
  'This is one of the old Office formats (such as .doc, .xls, .ppt or .msg), which cannot be read. Save it in a newer format or as PDF.';

/** Office puts a file with a password into the container of its old formats. */
export function oldFormat(bytes: Buffer): DocumentRefused {
  if (bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'))) return locked();
  const advice = streams.find(([name]) => hasStream(bytes, name))?.[1] ?? otherAdvice;
  return new DocumentRefused('unsupported', advice);
}

/** Entries of the directory begin with a name in UTF-16, at multiples of their 128 bytes (MS-CFB, section 2.6). */
function hasStream(bytes: Buffer, name: string): boolean {
  const sign = Buffer.from(`${name}\0`, 'utf16le');
  for (let at = bytes.indexOf(sign); at !== -1; at = bytes.indexOf(sign, at + 2)) if (at % 128 === 0) return true;
  return false;
}

export function binaryWorkbook(): DocumentRefused {
  return new DocumentRefused(
    'unsupported',
    'This is a binary Excel file (.xlsb), which cannot be read. Save it as .xlsx.',
  );
}
