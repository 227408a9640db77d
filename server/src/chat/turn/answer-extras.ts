import type { FilePart, Frame, SourceDocumentPart, SourceUrlPart } from '@homeport/contracts/chat/frames';
import { sourceBounds, webAddress } from '@homeport/contracts/chat/sources';
import { ApiError } from '@homeport/contracts/errors';
import { type AnswerPicture, pictureBounds } from '../model/stream/answer-pictures.ts';
import type { AnswerSource } from '../model/stream/answer-sources.ts';

/** Stores a picture as a file of the conversation. */
export type StorePicture = (picture: AnswerPicture) => Promise<FilePart>;

const notStored = 'A picture of this answer could not be stored.';

/** Sources and pictures of one turn: each source once, and pictures as files. */
export class AnswerExtras {
  readonly #emit: (frame: Frame) => void;
  readonly #store: StorePicture | undefined;
  readonly #addresses = new Set<string>();
  readonly #ids = new Set<string>();
  readonly #storing = new Set<Promise<void>>();
  #pictures = 0;

  constructor(emit: (frame: Frame) => void, store: StorePicture | undefined) {
    this.#emit = emit;
    this.#store = store;
  }

  /** The part of a source; undefined for one that the answer has already. */
  source(source: AnswerSource): SourceUrlPart | SourceDocumentPart | undefined {
    const key = source.kind === 'url' ? webAddress(source.url) : `${source.title} ${source.filename ?? ''}`;
    if (key === undefined || this.#addresses.has(key) || this.#addresses.size >= sourceBounds.count) return undefined;
    this.#addresses.add(key);
    if (source.kind === 'document') {
      const { kind: _, ...document } = source;
      return { type: 'source-document', sourceId: this.#idOf(undefined), ...document };
    }
    const { url, title, number } = source;
    return { type: 'source-url', sourceId: this.#idOf(number), url, ...(title === undefined ? {} : { title }) };
  }

  /** Begins to store a picture; its file is emitted when that is done. */
  picture(picture: AnswerPicture): void {
    if (this.#store === undefined || this.#pictures >= pictureBounds.count) return;
    this.#pictures++;
    const storing = this.#store(picture).then(
      ({ mediaType, url }) => this.#emit({ type: 'file', mediaType, url }),
      (error) => {
        const reason = error instanceof ApiError ? ` ${error.message}` : '';
        this.#emit({ type: 'data-notice', data: { code: 'picture_not_stored', message: `${notStored}${reason}` } });
      },
    );
    this.#storing.add(storing);
    storing.finally(() => this.#storing.delete(storing));
  }

  /** Resolves when every picture is stored, or is not going to be. */
  async stored(): Promise<void> {
    while (this.#storing.size > 0) await Promise.all(this.#storing);
  }

  /** The place in the server's list, so that `[n]` finds it; else the next number that is free. */
  #idOf(number: number | undefined): string {
    let id = number ?? this.#ids.size + 1;
    while (this.#ids.has(String(id))) id++;
    this.#ids.add(String(id));
    return String(id);
  }
}
