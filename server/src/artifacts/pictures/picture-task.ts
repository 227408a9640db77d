import { type Task, TaskRefused } from '../../sandbox/serve.ts';
import { checkPixels, decoders, encodeJpeg, fitPixels, TooManyPixels } from './codecs.ts';
import type { PictureType } from './picture-head.ts';

/** `width` and `height` are 0 if they could not be read from the head. */
export type PictureInput = {
  bytes: Uint8Array;
  type: PictureType;
  width: number;
  height: number;
  orientation: number;
  longest: number;
};

/** Converts one picture in a child process to an upright JPEG of at most `longest` pixels a side. */
export const pictureTask: Task = async (input) => {
  const { bytes, type, width, height, orientation, longest } = input as PictureInput;
  const decode = decoders[type];
  try {
    checkPixels(width, height);
    if (decode === undefined) throw new Error('no decoder');
    const pixels = await decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const turned = { ...pixels, orientation: Math.max(pixels.orientation, orientation) };
    return { opened: { jpeg: await encodeJpeg(fitPixels(turned, longest)) } };
  } catch (error) {
    throw new TaskRefused({ pixels: error instanceof TooManyPixels ? error.message : '' });
  }
};
