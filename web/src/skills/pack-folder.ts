/** A file of a chosen folder, with its path below it. */
export type FolderFile = { path: string; bytes: Uint8Array<ArrayBuffer> };

const leftOut = /(?:^|\/)(?:__MACOSX|\.git|node_modules|__pycache__)\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db)$/;
const utf8Names = 0x800;

/** The files of a folder, without what systems and tools leave behind. */
export function filesOfFolder(files: Iterable<File>): File[] {
  return [...files].filter((file) => !leftOut.test(file.webkitRelativePath));
}

/** A zip archive of these files, unpacked as they are (PKWARE APPNOTE 4.3): the server takes one file. */
export function packFolder(files: readonly FolderFile[]): Blob {
  const bodies: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const { path, bytes } of files) {
    const name = new TextEncoder().encode(path);
    const facts = factsOf(bytes, name.length);
    const body = join([head('PK\u0003\u0004'), facts, name, bytes]);
    const rest = new DataView(new ArrayBuffer(14));
    rest.setUint32(10, offset, true);
    directory.push(head('PK\u0001\u0002'), word(20), facts, bytesOf(rest), name);
    bodies.push(body);
    offset += body.length;
  }
  const middle = join(directory);
  const end = new DataView(new ArrayBuffer(18));
  end.setUint16(4, files.length, true);
  end.setUint16(6, files.length, true);
  end.setUint32(8, middle.length, true);
  end.setUint32(12, offset, true);
  return new Blob([...bodies, middle, head('PK\u0005\u0006'), bytesOf(end)], { type: 'application/zip' });
}

/** Fields shared by the local and the central header, from the version needed to the length of the extra field. */
function factsOf(bytes: Uint8Array, nameLength: number): Uint8Array<ArrayBuffer> {
  const facts = new DataView(new ArrayBuffer(26));
  facts.setUint16(0, 20, true);
  facts.setUint16(2, utf8Names, true);
  facts.setUint32(10, crc32(bytes), true);
  facts.setUint32(14, bytes.length, true);
  facts.setUint32(18, bytes.length, true);
  facts.setUint16(22, nameLength, true);
  return bytesOf(facts);
}

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (table[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

function head(mark: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(mark, (character) => character.charCodeAt(0));
}

function word(value: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.of(value & 0xff, value >> 8);
}

function bytesOf(view: DataView<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return new Uint8Array(view.buffer);
}

function join(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
