/**
 * Part of an attached file that a model gets, by type and size; for a document, the server decides after reading it.
 */
export type ModelInput = 'all' | 'name' | 'document';

const textBytes = 256 * 1024;
/** Larger pictures, except GIF, are made smaller up to this size. */
const imageBytes = 32 * 1024 * 1024;
const gifBytes = 5 * 1024 * 1024;
const pictures = /^image\/(?:png|jpeg|gif|webp|bmp|tiff|avif)$/;
const heic = /^image\/hei[cf]$/;
const unread = /^(?:audio|video|font|image)\//;
const documents = /pdf$|zip|msword|ms-excel|ms-powerpoint|officedocument|opendocument|rtf$|html|rfc822|octet-stream/;

export function modelInput({ mediaType, size = 0 }: { mediaType: string; size?: number }): ModelInput {
  if (pictures.test(mediaType)) return size > (mediaType === 'image/gif' ? gifBytes : imageBytes) ? 'name' : 'all';
  // The reason says what to save it as.
  if (heic.test(mediaType)) return 'document';
  if (mediaType !== 'image/svg+xml' && unread.test(mediaType)) return 'name';
  return documents.test(mediaType) || size > textBytes ? 'document' : 'all';
}
