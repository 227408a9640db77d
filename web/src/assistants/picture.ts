import { limits } from '@homeport/contracts/limits';

/** Pixels of a side, from the best that is tried; the picture is shown much smaller. */
const sides = [128, 96, 64];

/** A chosen file as a small square picture: a data URL within the limit, or undefined when it is no picture. */
export async function readPicture(file: Blob): Promise<string | undefined> {
  let image: ImageBitmap;
  try {
    image = await createImageBitmap(file);
  } catch {
    return undefined;
  }
  const smallest = sides.map((side) => draw(image, side)).find((url) => url.length <= limits.assistantIconMax);
  image.close();
  return smallest;
}

function draw(image: ImageBitmap, side: number): string {
  const canvas = document.createElement('canvas');
  canvas.width = side;
  canvas.height = side;
  const cut = Math.min(image.width, image.height);
  const [left, top] = [(image.width - cut) / 2, (image.height - cut) / 2];
  canvas.getContext('2d')?.drawImage(image, left, top, cut, cut, 0, 0, side, side);
  // Browsers that write no WebP write PNG instead.
  return canvas.toDataURL('image/webp', 0.85);
}
