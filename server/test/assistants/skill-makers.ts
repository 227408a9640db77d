import { deflateRawSync } from 'node:zlib';

/** Zip archives for tests: valid ones, and ones that no tool would make. */

export type ZipPart = {
  name: string;
  content: string | Buffer;
  /** Unix permissions with the type of file. */
  mode?: number;
  encrypted?: boolean;
  /** The size that the archive claims, if it differs. */
  claimed?: number;
};

export function zipOf(...parts: ZipPart[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, mode = 0o100644, encrypted = false, claimed } of parts) {
    const [path, data] = [Buffer.from(name), Buffer.from(content)];
    const packed = deflateRawSync(data);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE((encrypted ? 1 : 0) | 0x800, 2);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(claimed ?? data.length, 18);
    facts.writeUInt16LE(path.length, 22);
    const body = Buffer.concat([Buffer.from('PK\u0003\u0004'), facts, path, packed]);
    const entry = Buffer.alloc(46);
    entry.write('PK\u0001\u0002', 'latin1');
    entry.writeUInt16LE((3 << 8) | 20, 4);
    facts.copy(entry, 6, 0, 26);
    entry.writeUInt32LE(mode * 0x10000, 38);
    entry.writeUInt32LE(offset, 42);
    bodies.push(body);
    directory.push(entry, path);
    offset += body.length;
  }
  const middle = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(middle.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, middle, end]);
}

export function skillText(name: string, body = '# How\n\nStep one.\n', description = `Makes ${name} things.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n${body}`;
}
