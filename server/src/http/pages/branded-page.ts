import type { Branding } from '@homeport/contracts/system';

/**
 * The page and the web manifest with the installation's name, so that tabs and launchers never show another one first.
 */

/** Puts name and icon into the head of the built page. */
export function brandedPage(template: string, branding: Branding): string {
  const icon = branding.faviconDataUrl;
  const named = template.replace(/<title>[^<]*<\/title>/, () => `<title>${escaped(branding.productName)}</title>`);
  if (icon === null) return named;
  // regex-bound: the built page, and a product name of 60 characters
  return named.replace(/(<link rel="(?:icon|apple-touch-icon)"[^>]*?href=")[^"]*/g, (_, link) => link + escaped(icon));
}

/** The built manifest with the installation's name, color and icon. */
export function brandedManifest(built: string, branding: Branding): string {
  const { productName, tagline, primaryColor } = branding;
  const icon = branding.faviconDataUrl ?? branding.logoDataUrl;
  const manifest = {
    ...JSON.parse(built),
    name: productName,
    short_name: productName,
    ...(tagline === '' ? {} : { description: tagline }),
    theme_color: primaryColor,
    // As a data URL it is only ever drawn; an SVG at one of our addresses could be opened as a page.
    ...(icon === null ? {} : { icons: [{ src: icon, sizes: 'any' }] }),
  };
  return JSON.stringify(manifest);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
