/** How much of an attached file a model gets, as far as type and size tell; the server decides by the bytes. */
export type ModelReach = 'all' | 'beginning' | 'name';

const textBytes = 256 * 1024;
const imageBytes = 5 * 1024 * 1024;
const pictures = /^image\/(?:png|jpeg|gif|webp)$/;
const binaries =
  /^(?:audio|video|font|image)\/|pdf$|zip|x-tar|compressed|msword|ms-excel|ms-powerpoint|officedocument|opendocument/;

export function modelReach({ mediaType, size = 0 }: { mediaType: string; size?: number | undefined }): ModelReach {
  if (pictures.test(mediaType)) return size > imageBytes ? 'name' : 'all';
  if (mediaType !== 'image/svg+xml' && binaries.test(mediaType)) return 'name';
  return size > textBytes ? 'beginning' : 'all';
}
