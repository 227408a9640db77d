import { ApiError } from '@homeport/contracts/errors';
import type { Branding } from '@homeport/contracts/system';
import { imageTypeOf } from './image-data-url.ts';

/** How an installation looks until its administrators say otherwise. The colours have a contrast of 6.3 to 1. */
export const defaultBranding: Readonly<Branding> = {
  productName: 'Homeport',
  tagline: 'Your own place to talk to any model',
  logoDataUrl: null,
  faviconDataUrl: null,
  primaryColor: '#4f46e5',
  primaryForegroundColor: '#ffffff',
};

const images = ['logoDataUrl', 'faviconDataUrl'] as const;

/** Throws `invalid_request` when a picture is not what its data URL says (specification "Branding configuration"). */
export function assertImages(branding: Partial<Record<(typeof images)[number], string | null | undefined>>): void {
  const message = 'The content is not a PNG, JPEG, WebP, SVG or icon, or not what the data URL says it is';
  const details = images
    .filter((name) => typeof branding[name] === 'string' && imageTypeOf(branding[name]) === undefined)
    .map((name) => ({ path: `branding.${name}`, message }));
  if (details.length > 0) throw new ApiError('invalid_request', message, { details });
}
