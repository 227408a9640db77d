import { makePdfOf } from '../../documents/document-makers.ts';

/** A PDF of a few kilobytes whose forms draw each other: 40 times as much work for each of them. */
export function makeEndlessPdf(forms: number): Buffer {
  const form = (next: number) => ({
    dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X ${next} 0 R >> >>`,
    stream: Buffer.from('/X Do '.repeat(40)),
  });
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
  return makePdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>',
    { dictionary: '', stream: Buffer.from('/X Do') },
    ...Array.from({ length: forms }, (_, index) => form(6 + index)),
    {
      dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 ${font} >> >>`,
      stream: Buffer.from('BT /F1 9 Tf (a) Tj ET'),
    },
  ]);
}
