import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { frontMatterOf } from './skills.ts';

/** A skill as it is uploaded: a zip archive of its folder, or `SKILL.md` alone. Nothing of it touches a disk. */
export type SkillPackage = {
  name: string;
  description: string;
  /** The SHA-256 of all paths and contents. */
  fingerprint: string;
  bytes: number;
  /** By path, in the order of the paths. */
  files: readonly SkillContent[];
};
type SkillContent = { path: string; content: Buffer; sha256: string };

export const skillFileName = 'SKILL.md';
const skillTextMax = 256 * 1024;
const depthMax = 8;
/** Includes directories and omitted files. */
const entriesMax = 2000;
/** Names, extra fields and comments of all entries. */
const describedMax = 4 * 1024 * 1024;
const linkMode = 0o120000;
/** Files that operating systems and tools leave behind. */
const leftOut = /(?:^|\/)(?:__MACOSX|\.git|node_modules|__pycache__)\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db)$/;

/** Throws `invalid_request` with what is to be changed. */
export async function readSkillPackage(bytes: Buffer): Promise<SkillPackage> {
  const isZip = bytes.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004';
  const found = isZip ? await unzip(bytes) : new Map([[skillFileName, bytes]]);
  return packageOf(found, isZip);
}

/** The same of files that were read already, by path. */
export function packageOf(found: Map<string, Buffer>, isZip = true): SkillPackage {
  const files = [...withoutTopFolders(found)]
    .map(([path, content]) => ({ path, content, sha256: sha256(content) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const main = files.find(({ path }) => path === skillFileName);
  if (main === undefined) {
    const other = files.find(({ path }) => path.endsWith(`/${skillFileName}`));
    throw refusedSkill(
      other === undefined
        ? `There is no ${skillFileName}. A skill is a folder with that file in it.`
        : `${skillFileName} is not at the top but at ${other.path}. Upload one skill at a time: its folder alone.`,
    );
  }
  return {
    ...readMain(main.content, isZip),
    fingerprint: sha256(files.map(({ path, sha256: sum }) => `${sum} ${path}\n`).join('')),
    bytes: files.reduce((sum, { content }) => sum + content.length, 0),
    files,
  };
}

/** The text of a file; undefined for what is no text. */
export function textOf(content: Buffer): string | undefined {
  return isUtf8(content) && !content.includes(0) ? content.toString('utf8') : undefined;
}

function readMain(content: Buffer, isZip: boolean): { name: string; description: string } {
  if (content.length > skillTextMax) throw refusedSkill(`${skillFileName} is larger than ${skillTextMax / 1024} KiB.`);
  const text = textOf(content);
  if (text === undefined) {
    throw refusedSkill(isZip ? `${skillFileName} is not UTF-8 text.` : 'This is neither a zip archive nor a SKILL.md.');
  }
  const frontMatter = frontMatterOf(text);
  if (frontMatter !== undefined) return frontMatter;
  throw refusedSkill(
    `${skillFileName} has to begin with "---", a name (1 to 64 of a-z, 0-9 and single hyphens), a description (1 to 1,024 characters) and "---".`,
  );
}

async function unzip(bytes: Buffer): Promise<Map<string, Buffer>> {
  try {
    const zip = await fromBufferPromise(bytes, { validateEntrySizes: true, strictFileNames: true });
    return await readEntries(zip);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw refusedSkill('The archive is damaged, or a name in it leads out of its folder. Zip the folder again.', error);
  }
}

async function readEntries(zip: ZipFile): Promise<Map<string, Buffer>> {
  if (zip.entryCount > entriesMax) throw refusedSkill(`The archive has more than ${entriesMax} entries.`);
  const bounds = new SkillBounds();
  const files = new Map<string, Buffer>();
  let described = 0;
  for await (const entry of zip.eachEntry()) {
    described += entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
    if (described > describedMax)
      throw refusedSkill('The archive says too much about its files. Zip the folder again.');
    if (entry.fileName.endsWith('/') || !bounds.admits(entry.fileName, entry.uncompressedSize)) continue;
    assertPlain(entry);
    // More bytes than the entry says end it.
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(Buffer.from(chunk));
    files.set(entry.fileName, Buffer.concat(chunks));
  }
  return files;
}

/** Limits on all files of one skill together. */
export class SkillBounds {
  readonly #names = new Set<string>();
  #room: number = limits.skillBytes;

  /** False for what systems leave behind. Throws `invalid_request` for what a skill cannot have. */
  admits(path: string, bytes: number): boolean {
    if (leftOut.test(path)) return false;
    assertUsablePath(path);
    // Some disks take names that differ in case for one.
    const name = path.toLowerCase();
    if (this.#names.has(name)) throw refusedSkill(`The archive has ${path} twice.`);
    this.#names.add(name);
    if (this.#names.size > limits.skillFiles) throw refusedSkill(`A skill has at most ${limits.skillFiles} files.`);
    this.#room -= bytes;
    if (this.#room < 0) throw refusedSkill(`A skill has at most ${limits.skillBytes / 1024 / 1024} MiB, unpacked.`);
    return true;
  }
}

function assertPlain(entry: Entry): void {
  if (entry.isEncrypted()) throw refusedSkill('The archive is encrypted. Zip the folder again without a password.');
  if (((entry.externalFileAttributes >>> 16) & 0o170000) === linkMode) {
    throw refusedSkill('The archive has a symbolic link. Put the file itself in its place.');
  }
}

function assertUsablePath(name: string): void {
  const segments = name.split('/');
  const isPlain = segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..');
  const isFit = name.length <= limits.skillPathMax && segments.length <= depthMax && isPlain;
  if (!isFit || /[\p{C}\\:*?"<>|\ufffd]/u.test(name) || name !== name.normalize('NFC')) {
    throw refusedSkill(
      `A file name cannot be used. Paths have at most ${limits.skillPathMax} characters and ${depthMax} levels, and no special characters.`,
    );
  }
}

/** Archives of a folder have its name before every path. */
function withoutTopFolders(files: Map<string, Buffer>): Map<string, Buffer> {
  let inner = files;
  while (inner.size > 0 && !inner.has(skillFileName)) {
    const [first = ''] = inner.keys();
    const top = first.slice(0, first.indexOf('/') + 1);
    if (top === '' || ![...inner.keys()].every((path) => path.startsWith(top))) break;
    inner = new Map([...inner].map(([path, content]) => [path.slice(top.length), content]));
  }
  return inner;
}

function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

export function refusedSkill(message: string, cause?: unknown): ApiError {
  return new ApiError('invalid_request', message, { details: [{ path: 'file', message }], cause });
}
