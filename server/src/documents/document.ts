/** Extracted text of a document, or the problem with it. */

// biome-ignore format: one line
export const documentKinds = ['pdf', 'docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp', 'epub', 'rtf', 'html', 'eml', 'text'] as const;
export type DocumentKind = (typeof documentKinds)[number];

/** `label` is what a reader calls it: "page 3", "slide 3", "sheet Budget, rows 1–80", "part 3". Pages count from 1. */
export type DocumentPage = { label: string; text: string };

export const warningCodes = ['pages_cut', 'text_cut', 'pages_without_text', 'pages_unreadable'] as const;
export type DocumentWarning = { code: (typeof warningCodes)[number]; message: string };

export type ExtractedDocument = { kind: DocumentKind; pages: DocumentPage[]; warnings: DocumentWarning[] };

export const problemCodes = [
  'password',
  'too_large',
  'too_slow',
  'too_much_memory',
  'damaged',
  'unsupported',
  'heic',
  'unsafe',
  'no_text',
] as const;
export type DocumentProblem = { code: (typeof problemCodes)[number]; message: string };

export type DocumentBounds = {
  maxBytes: number;
  maxPages: number;
  /** Of the text that comes out, in UTF-8. */
  maxTextBytes: number;
  /** Of all parts that are unpacked of one file. */
  maxUnpackedBytes: number;
  timeoutMs: number;
  heapMb: number;
  /** Beside the heap: buffers and the process itself. */
  maxBufferBytes: number;
};

const mebibyte = 1024 * 1024;

export const documentBounds: DocumentBounds = {
  maxBytes: 100 * mebibyte,
  maxPages: 2_000,
  maxTextBytes: 10 * mebibyte,
  maxUnpackedBytes: 256 * mebibyte,
  timeoutMs: 60_000,
  heapMb: 512,
  maxBufferBytes: 768 * mebibyte,
};

/** Increased whenever the readers produce a different text for the same file: texts are then extracted again. */
export const extractorVersion = 6;

/** A document as it is stored: pages in pieces with their search words, and the tokens of the whole for a model. */
export type IndexedDocument = {
  kind: DocumentKind;
  warnings: DocumentWarning[];
  tokens: number;
  pages: { label: string; pieces: { text: string; words: string }[] }[];
};

/** A file that cannot be read, in words for the person. */
export class DocumentRefused extends Error {
  readonly code: DocumentProblem['code'];

  constructor(code: DocumentProblem['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export function damaged(cause?: unknown): DocumentRefused {
  return new DocumentRefused('damaged', 'The file is damaged or was cut short.', { cause });
}

export function locked(): DocumentRefused {
  return new DocumentRefused('password', 'The file is protected by a password. Attach a copy without one.');
}

/** Deeper than any program writes; parsers take ever longer there. */
export const deepestNesting = 1_000;

export function tooDeep(): DocumentRefused {
  return new DocumentRefused('unsafe', 'The file is nested too deeply and is not read.');
}

export function notReadable(): DocumentRefused {
  return new DocumentRefused('unsupported', 'No text can be read from this kind of file.');
}
