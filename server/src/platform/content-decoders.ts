import type { Duplex } from 'node:stream';
import zlib from 'node:zlib';

// A sender that ends without the trailer has still sent everything.
const lenient = { chunkSize: 64 * 1024, finishFlush: zlib.constants.Z_SYNC_FLUSH };

/** Decoders of content encodings (RFC 9110 section 8.4.1), made for the first bytes of a body. */
export const decoders: Readonly<Record<string, (first: Uint8Array) => Duplex>> = {
  gzip: () => zlib.createGunzip(lenient),
  'x-gzip': () => zlib.createGunzip(lenient),
  br: () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => zlib.createZstdDecompress({ finishFlush: zlib.constants.ZSTD_e_flush }),
  // RFC 9110 means zlib; some senders send the bare stream.
  deflate: ([first = 0]) => ((first & 0x0f) === 8 ? zlib.createInflate(lenient) : zlib.createInflateRaw(lenient)),
};
