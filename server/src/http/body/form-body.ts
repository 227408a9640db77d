import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { ApiError } from '@homeport/contracts/errors';
import type { z } from 'zod';
import { isStorable } from '../../platform/json/json-fault.ts';
import { ChunkQueue } from './chunk-queue.ts';
import { discardRest, fileTooLarge, malformed, watchBody } from './incoming-body.ts';
import { validate } from './validate.ts';

/** A form's file as it arrives. `filename` and `mediaType` are the sender's claims. */
type FormFile = { filename: string | undefined; mediaType: string | undefined; bytes: AsyncIterable<Buffer> };

/**
 * A handler's callbacks for the file: `take` consumes its bytes, `drop` undoes that if a later field is refused.
 */
export type FormSink<Fields, Taken> = {
  /** `fields` are those before the file, if they are already valid. */
  take(file: FormFile, fields: Fields | undefined): Promise<Taken>;
  drop(taken: Taken): Promise<void>;
};

/** A multipart/form-data body with one file in its part `file`, not read yet. */
export type Form<Fields> = {
  /**
   * Reads everything; only fields are kept in memory. Throws `invalid_request`, `payload_too_large` if the file is
   * above the limit, or what `take` throws.
   */
  receive<Taken>(sink: FormSink<Fields, Taken>): Promise<{ fields: Fields; file: FormFile; taken: Taken }>;
};

const maxParts = 20;
const maxFieldBytes = 16 * 1024;
const maxNameLength = 100;
/** Everything in a form except its file: fields, headers, boundaries. */
const overhead = maxParts * (maxFieldBytes + 32 * 1024);

/**
 * Checks type and declared size (contract.md section 1, order of checks). Throws `unsupported_media_type`,
 * `payload_too_large`.
 */
export function openForm<S extends z.ZodType>(
  incoming: IncomingMessage,
  schema: S,
  maxFileBytes: number,
): Form<z.output<S>> {
  const type = incoming.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;.*\bboundary=/i.test(type)) {
    discardRest(incoming);
    throw new ApiError('unsupported_media_type', 'Send a form with content-type: multipart/form-data');
  }
  if (Number(incoming.headers['content-length'] ?? 0) > maxFileBytes + overhead) {
    discardRest(incoming);
    throw fileTooLarge(maxFileBytes);
  }
  return {
    async receive(sink) {
      const reader = new FormReader(incoming, type, schema, maxFileBytes, sink);
      try {
        return await reader.read();
      } catch (error) {
        discardRest(incoming);
        throw error;
      }
    },
  };
}

/** One pass over a form: pushes the request through the parser until it ends, breaks off, or is refused. */
class FormReader<S extends z.ZodType, Taken> {
  readonly #incoming: IncomingMessage;
  readonly #schema: S;
  readonly #maxFileBytes: number;
  readonly #sink: FormSink<z.output<S>, Taken>;
  readonly #parser: InstanceType<typeof Busboy>;
  readonly #fields: Record<string, string> = Object.create(null);
  readonly #fieldsRead: Promise<void>[] = [];
  readonly #refused = Promise.withResolvers<never>();
  #file: { facts: FormFile; stream: BusboyFileStream; taken: Promise<Taken> } | undefined;

  constructor(
    incoming: IncomingMessage,
    contentType: string,
    schema: S,
    maxFileBytes: number,
    sink: FormSink<z.output<S>, Taken>,
  ) {
    this.#incoming = incoming;
    this.#schema = schema;
    this.#maxFileBytes = maxFileBytes;
    this.#sink = sink;
    this.#refused.promise.catch(() => undefined);
    try {
      this.#parser = new Busboy({
        headers: { ...incoming.headers, 'content-type': contentType },
        preservePath: true,
        // Every part arrives as bytes; fields are decoded here, strictly.
        isPartAFile: () => true,
        fileHwm: 256 * 1024,
        limits: { files: maxParts, parts: maxParts, headerPairs: 20, headerSize: 16 * 1024 },
      });
    } catch {
      throw malformed('The form has no usable boundary');
    }
  }

  async read(): Promise<{ fields: z.output<S>; file: FormFile; taken: Taken }> {
    const parser = this.#parser;
    const finished = new Promise<void>((resolve) => parser.once('finish', resolve));
    parser.on('error', () => this.#refuse(malformed('The form is malformed, or ended before it was complete')));
    parser.on('partsLimit', () => this.#refuse(malformed(`The form has more than ${maxParts} parts`)));
    parser.on('filesLimit', () => this.#refuse(malformed(`The form has more than ${maxParts} parts`)));
    parser.on('file', (name, stream, filename, encoding, mediaType) => {
      this.#part({ name, filename, encoding, mediaType }, stream);
    });
    const stopWatching = watchBody(this.#incoming, (error) => this.#refuse(error));
    this.#incoming.pipe(parser);
    try {
      await Promise.race([finished, this.#refused.promise]);
      const fields = validate(this.#schema, { ...this.#fields });
      if (this.#file === undefined) throw fieldError('file', 'Needed: the file itself');
      const taken = await Promise.race([this.#file.taken, this.#refused.promise]);
      return { fields, file: this.#file.facts, taken };
    } catch (error) {
      await this.#undo(error);
      throw error;
    } finally {
      stopWatching();
      this.#incoming.unpipe(parser);
    }
  }

  #refuse(error: unknown): void {
    this.#refused.reject(error);
  }

  #part(
    part: { name: string | undefined; filename: string | undefined; encoding: string; mediaType: string },
    stream: BusboyFileStream,
  ): void {
    // The consumer of the bytes gets the error; without one, it must not end the process.
    stream.on('error', () => undefined);
    const fault = this.#faultOf(part);
    if (fault !== undefined) {
      stream.resume();
      this.#refuse(fault);
    } else if (part.name === 'file') this.#takeFile(part, stream);
    else this.#readField(part.name ?? '', stream);
  }

  #faultOf({ name, filename, encoding }: { name: string | undefined; filename: string | undefined; encoding: string }) {
    if (name === undefined || name.length > maxNameLength || !isStorable(name)) {
      return malformed('A part of the form has no usable name');
    }
    if (/^(?:base64|quoted-printable)$/i.test(encoding))
      return fieldError(name, 'Must be sent without a transfer encoding');
    if (name === 'file') {
      if (this.#file !== undefined) return fieldError('file', 'Send one file');
      return filename === undefined || isStorable(filename)
        ? undefined
        : fieldError('file', 'Its name cannot be stored');
    }
    if (filename !== undefined) return fieldError(name, 'The file goes in the part `file`');
    return name in this.#fields ? fieldError(name, 'Given twice') : undefined;
  }

  #readField(name: string, stream: BusboyFileStream): void {
    const chunks: Buffer[] = [];
    let size = 0;
    this.#fields[name] = '';
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxFieldBytes) this.#refuse(fieldError(name, `Longer than ${maxFieldBytes} bytes`));
      else chunks.push(chunk);
    });
    // Resolves even after a refusal, so that the reader of the fields does not wait forever.
    this.#fieldsRead.push(new Promise((resolve) => void stream.once('end', resolve).once('close', resolve)));
    stream.on('end', () => {
      const text = strictText(Buffer.concat(chunks));
      if (text === undefined) this.#refuse(fieldError(name, 'Contains a character that cannot be stored'));
      else this.#fields[name] = text;
    });
  }

  #takeFile(part: { filename: string | undefined; mediaType: string }, stream: BusboyFileStream): void {
    // Senders escape a quote in a name like this (HTML, "Multipart form data").
    const filename = part.filename?.replaceAll('%22', '"');
    const facts = { filename, mediaType: part.mediaType, bytes: new ChunkQueue(stream) };
    let size = 0;
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= this.#maxFileBytes) return;
      const error = fileTooLarge(this.#maxFileBytes);
      this.#refuse(error);
      stream.destroy(error);
    });
    // Earlier fields are already parsed, but are read only in the next tick.
    const taken = Promise.all(this.#fieldsRead).then(() => {
      const early = this.#schema.safeParse({ ...this.#fields });
      return this.#sink.take(facts, early.success ? early.data : undefined);
    });
    // A refusal takes effect at once, without waiting for the remaining fields.
    taken.catch((error: unknown) => this.#refuse(error));
    this.#file = { facts, stream, taken };
  }

  async #undo(error: unknown): Promise<void> {
    if (this.#file === undefined) return;
    const { stream, taken } = this.#file;
    stream.destroy(error instanceof Error ? error : new Error('refused'));
    await taken.then(
      (value) => this.#sink.drop(value),
      () => undefined,
    );
  }
}

function strictText(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return isStorable(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function fieldError(name: string, message: string): ApiError {
  const path = name.slice(0, maxNameLength);
  return new ApiError('invalid_request', `The request is not valid. ${path}: ${message}`, {
    details: [{ path, message }],
  });
}
