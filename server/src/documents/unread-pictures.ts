import { pictureType } from '../artifacts/pictures/picture-head.ts';
import { DocumentRefused } from './document.ts';

const formats: Readonly<Record<string, string>> = { 'image/avif': 'AVIF', 'image/tiff': 'TIFF', 'image/bmp': 'BMP' };

/** The reason why there is no text in this picture, with what to do; undefined for other files. */
export function unreadPicture(bytes: Buffer): DocumentRefused | undefined {
  const type = pictureType(bytes);
  if (type === 'image/heic') {
    return new DocumentRefused('heic', 'This is a HEIC picture, which models cannot see. Save it as JPEG or PNG.');
  }
  const format = formats[type ?? ''];
  if (format === undefined) return undefined;
  const words = `This is a ${format} picture, which has no text to read. Models see it when it is attached to a message.`;
  return new DocumentRefused('unsupported', words);
}
