/** Decoders for encodings that `TextDecoder` lacks, and of those that it has. */

const ibm855 =
  'ђЂѓЃёЁєЄѕЅіІїЇјЈљЉњЊћЋќЌўЎџЏюЮъЪаАбБцЦдДеЕфФгГ«»░▒▓│┤хХиИ╣║╗╝йЙ┐└┴┬├─┼кК╚╔╩╦╠═╬¤лЛмМнНоОп┘┌█▄Пя▀ЯрРсСтТуУжЖвВьЬ№\u00adыЫзЗшШэЭщЩчЧ§■\u00a0';
const shiftOut = 0x0e;
const shiftIn = 0x0f;

const decoders = new Map<string, (bytes: Uint8Array) => string>([
  ['ibm855', decodeIbm855],
  ['iso-2022-kr', decodeKoreanEscapes],
  ['utf-32le', (bytes) => decodeUtf32(bytes, true)],
  ['utf-32be', (bytes) => decodeUtf32(bytes, false)],
]);

/** Decodes bytes of an encoding by its name in the WHATWG standard, or one of the four above. */
export function decodeAs(encoding: string, bytes: Uint8Array): string {
  return decoders.get(encoding)?.(bytes) ?? new TextDecoder(encoding).decode(bytes);
}

function decodeIbm855(bytes: Uint8Array): string {
  return textOf(bytes.length, (at) => {
    const byte = bytes[at] ?? 0;
    return byte < 0x80 ? byte : ibm855.charCodeAt(byte - 0x80);
  });
}

/** Between a shift out and a shift in, EUC-KR without its high bits (RFC 1557). */
function decodeKoreanEscapes(bytes: Uint8Array): string {
  const plain = new Uint8Array(bytes.length);
  let length = 0;
  let isShifted = false;
  for (const byte of withoutDesignators(bytes)) {
    if (byte === shiftOut || byte === shiftIn) {
      isShifted = byte === shiftOut;
      continue;
    }
    plain[length] = isShifted && byte > 0x20 ? byte | 0x80 : byte;
    length += 1;
  }
  return new TextDecoder('euc-kr').decode(plain.subarray(0, length));
}

function withoutDesignators(bytes: Uint8Array): Buffer {
  return Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll('\u001b$)C', ''), 'latin1');
}

function decodeUtf32(bytes: Uint8Array, isLittle: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: string[] = [];
  let part: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = view.getUint32(at, isLittle);
    if (at === 0 && code === 0xfeff) continue;
    part.push(code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0xfffd : code);
    if (part.length < 8192) continue;
    parts.push(String.fromCodePoint(...part));
    part = [];
  }
  return parts.join('') + String.fromCodePoint(...part);
}

function textOf(length: number, codeAt: (at: number) => number): string {
  const codes = new Uint16Array(length);
  for (let at = 0; at < length; at += 1) codes[at] = codeAt(at);
  return new TextDecoder('utf-16le').decode(codes);
}
