/** Pixels in memory, four bytes each: red, green, blue, alpha. */
export type Pixels = { data: Uint8Array | Uint8ClampedArray; width: number; height: number };

const channels = 4;
const opaque = 255;

/**
 * The picture on white, with a longest side of at most `longest` pixels. Each new pixel is the average of the area that
 * it covers; a picture is never enlarged.
 */
export function shrink({ data, width, height }: Pixels, longest: number): Pixels {
  const scale = Math.min(1, longest / Math.max(width, height));
  const size = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
  const out = new Uint8ClampedArray(size.width * size.height * channels);
  const columns = spread(width, size.width);
  const rows = spread(height, size.height);
  const line = new Float32Array(size.width * 3);
  let sums = new Float32Array(line.length);
  for (let row = 0; row < height; row += 1) {
    const share = rows.share[row] ?? 0;
    averageRow(line, data, row * width * channels, columns);
    add(sums, line, share);
    const target = rows.target[row] ?? 0;
    if (rows.target[row + 1] === target) continue;
    writeRow(out, target * size.width * channels, sums);
    sums = new Float32Array(line.length);
    // A row at a border belongs to two new ones.
    add(sums, line, rows.rest[row] ?? 0);
  }
  return { data: out, ...size };
}

/**
 * For each source index, the new one that it is part of, as `share` of the whole; the `rest` belongs to the next one.
 * No source index spans more than two, as nothing is enlarged.
 */
type Spread = { target: Int32Array; share: Float32Array; rest: Float32Array };

function spread(from: number, to: number): Spread {
  const result = { target: new Int32Array(from + 1), share: new Float32Array(from), rest: new Float32Array(from) };
  const part = to / from;
  for (let index = 0; index < from; index += 1) {
    const begin = index * part;
    const target = Math.min(to - 1, Math.floor(begin + tiny));
    const inside = Math.min(part, target + 1 - begin);
    result.target[index] = target;
    result.share[index] = inside;
    result.rest[index] = target + 1 < to ? Math.max(0, part - inside) : 0;
  }
  result.target[from] = to;
  return result;
}

/** Products of fractions miss whole numbers by less. */
const tiny = 1e-9;

function averageRow(line: Float32Array, data: Pixels['data'], start: number, { target, share, rest }: Spread): void {
  line.fill(0);
  let at = start;
  for (let column = 0; column < share.length; column += 1) {
    const alpha = (data[at + 3] ?? opaque) / opaque;
    const white = (1 - alpha) * opaque;
    const red = (data[at] ?? 0) * alpha + white;
    const green = (data[at + 1] ?? 0) * alpha + white;
    const blue = (data[at + 2] ?? 0) * alpha + white;
    const to = (target[column] ?? 0) * 3;
    const inside = share[column] ?? 0;
    line[to] = (line[to] ?? 0) + red * inside;
    line[to + 1] = (line[to + 1] ?? 0) + green * inside;
    line[to + 2] = (line[to + 2] ?? 0) + blue * inside;
    const next = rest[column] ?? 0;
    if (next > 0) {
      line[to + 3] = (line[to + 3] ?? 0) + red * next;
      line[to + 4] = (line[to + 4] ?? 0) + green * next;
      line[to + 5] = (line[to + 5] ?? 0) + blue * next;
    }
    at += channels;
  }
}

function add(sums: Float32Array, line: Float32Array, share: number): void {
  if (share === 0) return;
  for (let index = 0; index < sums.length; index += 1) sums[index] = (sums[index] ?? 0) + (line[index] ?? 0) * share;
}

function writeRow(out: Uint8ClampedArray, start: number, sums: Float32Array): void {
  let at = start;
  for (let index = 0; index < sums.length; index += 3) {
    out[at] = sums[index] ?? 0;
    out[at + 1] = sums[index + 1] ?? 0;
    out[at + 2] = sums[index + 2] ?? 0;
    out[at + 3] = opaque;
    at += channels;
  }
}

/** The source of the pixel at (x, y) of the turned picture, by the orientation of EXIF; `right` and `bottom` are the last ones. */
const sources: Readonly<
  Record<number, (x: number, y: number, right: number, bottom: number) => readonly [x: number, y: number]>
> = {
  2: (x, y, right) => [right - x, y],
  3: (x, y, right, bottom) => [right - x, bottom - y],
  4: (x, y, _right, bottom) => [x, bottom - y],
  5: (x, y) => [y, x],
  6: (x, y, _right, bottom) => [y, bottom - x],
  7: (x, y, right, bottom) => [right - y, bottom - x],
  8: (x, y, right) => [right - y, x],
};
/** From this orientation on, width and height change places. */
const firstSideways = 5;

/** The picture upright. */
export function turnUpright(pixels: Pixels, orientation: number): Pixels {
  const sourceOf = sources[orientation];
  if (sourceOf === undefined) return pixels;
  const isSideways = orientation >= firstSideways;
  const [width, height] = isSideways ? [pixels.height, pixels.width] : [pixels.width, pixels.height];
  const from = new Uint32Array(pixels.data.buffer, pixels.data.byteOffset, pixels.width * pixels.height);
  const to = new Uint32Array(width * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const [column, row] = sourceOf(x, y, pixels.width - 1, pixels.height - 1);
      to[y * width + x] = from[row * pixels.width + column] ?? 0;
    }
  }
  return { data: new Uint8ClampedArray(to.buffer), width, height };
}
