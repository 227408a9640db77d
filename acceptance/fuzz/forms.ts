import fc from 'fast-check';
import type { Json } from '../product.ts';
import { jsonOf, nearly } from './values.ts';

/**
 * Arbitrary forms with a file (multipart/form-data), from the fields in the API's own description: valid ones and
 * broken ones.
 */

type Form = { body: Buffer; type: string };
type Part = { name: string; filename?: string; type?: string; bytes: Buffer };

const boundary = 'fuzz-7MA4YWxkTrZu0gW';
const plainType = `multipart/form-data; boundary=${boundary}`;

/** `schema` is the form's own, with the part `file` among its properties. */
export function formOf(schema: Json): fc.Arbitrary<Form> {
  const { file: _, ...properties } = schema.properties;
  const required = schema.required.filter((name: string) => name !== 'file');
  const valid = jsonOf({ type: 'object', properties, required });
  const whole = (fields: fc.Arbitrary<Json>) =>
    fc.tuple(partsOf(fields), file).map(([parts, last]) => [...parts, last]);
  return fc.oneof(
    { weight: 12, arbitrary: whole(valid).map((parts) => ({ body: encoded(parts), type: plainType })) },
    { weight: 3, arbitrary: whole(nearly(valid)).map((parts) => ({ body: encoded(parts), type: plainType })) },
    { weight: 4, arbitrary: fc.tuple(whole(valid), fc.nat(1_000), fc.nat(99)).map(broken) },
  );
}

const text = (value: Json) => Buffer.from(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

function partsOf(fields: fc.Arbitrary<Json>): fc.Arbitrary<Part[]> {
  return fields.map((value) =>
    Object.entries<Json>(Object(value)).map(([name, member]) => ({ name: quoted(name), bytes: text(member) })),
  );
}

/** Escapes a name as browsers do (HTML, "Multipart form data"). */
function quoted(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

const file: fc.Arbitrary<Part> = fc.record({
  name: fc.constant('file'),
  filename: fc.oneof(
    fc.constantFrom(
      'a.txt',
      'picture.png',
      'table.csv',
      '',
      '../../up.txt',
      '%22.txt',
      'a\u0000b',
      '.',
      'a'.repeat(400),
    ),
    fc.string({ maxLength: 20 }).map(quoted),
  ),
  type: fc.constantFrom('text/plain', 'image/png', 'text/html', 'application/octet-stream', 'x', ''),
  bytes: fc.uint8Array({ maxLength: 3_000 }).map((bytes) => Buffer.from(bytes)),
});

function encoded(parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(({ name, filename, type, bytes }) => {
    const disposition = `content-disposition: form-data; name="${name}"`;
    const head =
      filename === undefined ? disposition : `${disposition}; filename="${filename}"\r\ncontent-type: ${type}`;
    return [Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

function broken([parts, at, choice]: [Part[], number, number]): Form {
  const whole = encoded(parts);
  const last = parts.at(-1);
  const doubled = last === undefined ? parts : [...parts, last];
  const forms: (() => Form)[] = [
    () => ({ body: whole.subarray(0, at % whole.length), type: plainType }),
    () => ({ body: encoded(parts.slice(0, -1)), type: plainType }),
    () => ({ body: encoded(parts.toReversed()), type: plainType }),
    () => ({ body: encoded(doubled), type: plainType }),
    () => ({ body: encoded(Array.from({ length: 30 }, () => parts).flat()), type: plainType }),
    () => ({ body: encoded(parts.map((part) => ({ ...part, filename: 'x', type: 'x' }))), type: plainType }),
    () => ({ body: encoded([{ name: '__proto__', bytes: text('x') }, ...parts]), type: plainType }),
    () => ({ body: encoded([{ name: 'path', bytes: Buffer.from([0xff, 0xc0]) }, ...parts]), type: plainType }),
    () => ({ body: encoded([{ name: 'path', bytes: Buffer.alloc(20_000, 'a') }, ...parts]), type: plainType }),
    () => ({ body: encoded([{ name: 'x'.repeat(200), bytes: text('') }, ...parts]), type: plainType }),
    () => ({ body: Buffer.from(whole.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'), type: plainType }),
    () => ({ body: Buffer.alloc(0), type: plainType }),
    () => ({ body: whole, type: 'multipart/form-data; boundary=another' }),
    () => ({ body: whole, type: 'multipart/form-data; boundary=' }),
    () => ({ body: whole, type: `multipart/form-data; boundary=${'b'.repeat(500)}` }),
    () => ({ body: whole, type: 'multipart/form-data' }),
    () => ({ body: whole, type: `multipart/mixed; boundary=${boundary}` }),
    () => ({ body: whole, type: 'application/json' }),
  ];
  return forms[choice % forms.length]?.() ?? { body: whole, type: plainType };
}
