type Rgb = readonly [number, number, number];
type Shades = [string, string, string, string, string, string, string, string, string, string];

/** OKLCH lightness of the ten shades, lightest first; the brand color itself keeps its own lightness. */
const ladder = [0.971, 0.936, 0.885, 0.808, 0.704, 0.637, 0.577, 0.505, 0.444, 0.396];
export const brandShade = 6;

/** Ten shades around a six-digit hex color, which itself is shade 6. */
export function brandShades(hex: string): Shades {
  const [lightness, a, b] = toOklab(parseHex(hex));
  const shade = (index: number): string => {
    if (index === brandShade) return hex.toLowerCase();
    const target = stepTo(index, lightness);
    // Very light and very dark shades have room for little chroma; otherwise they leave the sRGB gamut and look garish.
    const chroma = Math.min(1, (1 - Math.abs(target - 0.6) / 0.46) * 1.15);
    return toHex(fromOklab([target, a * Math.max(0.12, chroma), b * Math.max(0.12, chroma)]));
  };
  return [shade(0), shade(1), shade(2), shade(3), shade(4), shade(5), shade(6), shade(7), shade(8), shade(9)];
}

/** WCAG contrast ratio of two hex colors. */
export function contrast(first: string, second: string): number {
  const [light, dark] = [luminance(parseHex(first)), luminance(parseHex(second))].sort((x, y) => y - x);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

/**
 * Returns the given text color if it is readable on the background (4.5:1), otherwise black or white, the more readable
 * one.
 */
export function readableOn(background: string, wished: string): string {
  if (contrast(background, wished) >= 4.5) return wished;
  return contrast(background, '#ffffff') >= contrast(background, '#000000') ? '#ffffff' : '#000000';
}

/** The shade nearest to the brand color that reaches `ratio` on a surface; black or white if none does. */
export function shadeOn(shades: readonly string[], surface: string, ratio: number): string {
  const nearest = shades
    .map((shade, index) => ({ shade, distance: Math.abs(index - brandShade) }))
    .filter(({ shade }) => contrast(shade, surface) >= ratio)
    .sort((x, y) => x.distance - y.distance)[0];
  return nearest?.shade ?? readableOn(surface, surface);
}

function stepTo(index: number, brand: number): number {
  const own = ladder[index] ?? 0.5;
  if (index < brandShade) return Math.max(own, brand + (0.985 - brand) * ((brandShade - index) / (brandShade + 1)));
  return Math.min(own, brand * (1 - (index - brandShade) * 0.11));
}

function parseHex(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function toHex(rgb: Rgb): string {
  return `#${rgb
    .map((channel) =>
      Math.round(Math.min(255, Math.max(0, channel)))
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
}

const toLinear = (channel: number) =>
  channel <= 10.31475 ? channel / 3294.6 : ((channel / 255 + 0.055) / 1.055) ** 2.4;
const fromLinear = (value: number) =>
  value <= 0.0031308 ? value * 3294.6 : 255 * (1.055 * value ** (1 / 2.4) - 0.055);

function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map(toLinear);
  return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (b ?? 0);
}

// Matrices of Björn Ottosson's OKLab.
function toOklab([red, green, blue]: Rgb): Rgb {
  const [r, g, b] = [toLinear(red), toLinear(green), toLinear(blue)];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromOklab([lightness, a, b]: Rgb): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    fromLinear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    fromLinear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    fromLinear(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}
