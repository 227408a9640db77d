import type { Piece } from './pieces.ts';
import { importBounds, type ReadFile } from './read-conversation.ts';
import { name, text } from './values.ts';

/** The files beside the conversations in an archive, found by the ids that conversations name them with. */
export class ArchiveFiles {
  readonly #byId = new Map<string, string>();
  readonly #byName = new Map<string, string>();
  readonly #names = new Map<string, string>();

  /** `entries` are the names of all entries of the archive. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const base = baseName(entry);
      this.#byName.set(base, entry);
      const id = idOf(base);
      if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, entry);
    }
  }

  /** Original names, from the archive's own list of them. */
  learnNames(list: Readonly<Record<string, unknown>>): void {
    for (const [stored, original] of Object.entries(list).slice(0, importBounds.entries)) {
      const given = baseName(text(original));
      if (given !== '') this.#names.set(baseName(stored), given);
    }
  }

  /** By an id such as `file-service://file-abc`, `sediment://file_abc` or `file-abc`. */
  find(pointer: unknown): { entry: string; name: string } | undefined {
    const base = baseName(text(pointer));
    const id = idOf(base);
    const entry = (id === undefined ? undefined : this.#byId.get(id)) ?? this.#byName.get(base);
    if (entry === undefined) return undefined;
    const stored = baseName(entry);
    return { entry, name: this.#names.get(stored) ?? stored.replace(/^file[-_][A-Za-z0-9]+-(?=.)/, '') };
  }

  /** Open WebUI's uploads: `<id>_<name>`. */
  findUpload(id: string): { entry: string; name: string } | undefined {
    if (id === '') return undefined;
    for (const [base, entry] of this.#byName) {
      if (base.startsWith(`${id}_`)) return { entry, name: base.slice(id.length + 1) };
    }
    return undefined;
  }
}

function baseName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? '';
}

/** The id without its prefix, so that `file-abc`, `file_abc.dat` and `file-abc-photo.png` are the same. */
function idOf(base: string): string | undefined {
  return /^file[-_]([A-Za-z0-9]{8,})/.exec(base)?.[1];
}

/** The files of one conversation or project, each once. */
export class FileList {
  readonly files: ReadFile[] = [];
  readonly notes = new Set<string>();
  #inlineBytes = 0;
  readonly #places = new Map<string, number>();

  /** The piece that shows the file; words where it cannot come. */
  add(file: ReadFile): Piece[] {
    const known = this.#places.get(file.sourceId);
    if (known === undefined) {
      if (this.files.length >= importBounds.filesPerConversation) return this.missing(file.name);
      if ('bytes' in file.content) {
        this.#inlineBytes += file.content.bytes.length;
        if (this.#inlineBytes > importBounds.inlineBytes) return this.missing(file.name);
      }
      this.#places.set(file.sourceId, this.files.length);
      this.files.push(file);
    }
    const index = known ?? this.files.length - 1;
    return [{ type: 'file', index, name: file.name, mediaType: file.mediaType ?? 'application/octet-stream' }];
  }

  addText(sourceId: string, filename: string, content: string, createdAt: string | null): Piece[] {
    const isText =
      /\.(txt|md|csv|json|xml|ya?ml|html?|css|[cm]?[jt]sx?|py|rb|go|rs|java|c|h|cpp|sh|sql|log|tex|svg)$/i.test(
        filename,
      );
    const own = isText ? filename : `${filename}.txt`;
    const mediaType = isText ? undefined : 'text/plain';
    return this.add({ sourceId, name: own, mediaType, createdAt, content: { bytes: encoded(content) } });
  }

  /** A picture or file as a data URL; undefined if it is none. */
  addDataUrl(sourceId: string, filename: string, url: string, createdAt: string | null): Piece[] | undefined {
    const match = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.-]+)*;base64,/.exec(url.slice(0, 200));
    if (match === null) return undefined;
    const bytes = Uint8Array.from(Buffer.from(url.slice(match[0].length), 'base64'));
    if (bytes.length === 0) return this.missing(filename);
    return this.add({ sourceId, name: filename, mediaType: match[1], createdAt, content: { bytes } });
  }

  /** Words in place of a file that is not in the archive. */
  missing(filename: unknown): Piece[] {
    const label = name(filename) ?? 'file';
    this.notes.add(`The archive does not contain the file “${label}”`);
    return [{ type: 'text', text: `[${label.replace(/[[\]]/g, '')}: this file was not in the imported archive]` }];
  }
}

function encoded(content: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(content, 'utf8'));
}
