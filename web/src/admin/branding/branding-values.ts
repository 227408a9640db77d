import { limits } from '@homeport/contracts/limits';
import type { Branding } from '@homeport/contracts/system';
import type { CallOptions } from '../../api/api.ts';
import { textFault } from '../../forms/rules.ts';
import type { Translate } from '../../i18n/i18n.ts';
import { contrast, readableOn } from '../../theme/brand-color.ts';

/** Minimum contrast of text (WCAG 1.4.3). */
export const readable = 4.5;

/** The values of the branding form. */
export type BrandingValues = Branding & { foreground: 'auto' | 'own' };

export function brandingValues(branding: Branding): BrandingValues {
  const isAuto = branding.primaryForegroundColor.toLowerCase() === proposedForeground(branding.primaryColor);
  return { ...branding, foreground: isAuto ? 'auto' : 'own' };
}

/** White if it is readable on the color, otherwise black. */
function proposedForeground(primary: string): string {
  return readableOn(primary, '#ffffff');
}

/** The branding for these values; unfinished colors are taken from `stored`. */
export function chosenBranding(values: BrandingValues, stored: Branding): Branding {
  const { foreground, ...branding } = values;
  const primaryColor = isColor(values.primaryColor) ? values.primaryColor : stored.primaryColor;
  const own = isColor(values.primaryForegroundColor) ? values.primaryForegroundColor : stored.primaryForegroundColor;
  const primaryForegroundColor = foreground === 'auto' ? proposedForeground(primaryColor) : own;
  return { ...branding, primaryColor, primaryForegroundColor };
}

export function brandingFaults(values: BrandingValues, t: Translate): Record<string, string | null> {
  return {
    productName: textFault(values.productName, limits.productNameMax, t),
    tagline: values.tagline.trim().length > limits.taglineMax ? t('form.tooLong', { max: limits.taglineMax }) : null,
    primaryColor: isColor(values.primaryColor) ? null : t('branding.colorBad'),
    primaryForegroundColor:
      values.foreground === 'auto' || isColor(values.primaryForegroundColor) ? null : t('branding.colorBad'),
  };
}

type Patch = NonNullable<CallOptions<'POST /api/admin/config'>['body']['branding']>;

/** Members that differ from the stored branding; images are large, so they are sent only if new. */
export function brandingPatch(values: BrandingValues, stored: Branding): Patch {
  const { logoDataUrl, faviconDataUrl, ...rest } = chosenBranding(values, stored);
  return {
    ...rest,
    productName: rest.productName.trim(),
    tagline: rest.tagline.trim(),
    ...(logoDataUrl === stored.logoDataUrl ? {} : { logoDataUrl }),
    ...(faviconDataUrl === stored.faviconDataUrl ? {} : { faviconDataUrl }),
  };
}

/** The contrast as text, never rounded up to a pass. */
export function contrastText(first: string, second: string, locale: string): { ratio: number; text: string } {
  const ratio = contrast(first, second);
  const shown = Math.floor(ratio * 10) / 10;
  return { ratio, text: new Intl.NumberFormat(locale, { minimumFractionDigits: 1 }).format(shown) };
}

function isColor(value: string): boolean {
  return /^#[0-9a-f]{6}$/i.test(value);
}
