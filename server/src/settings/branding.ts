import { ApiError } from '@homeport/contracts/errors';
import { imageTypeOf } from './image-data-url.ts';

const images = ['logoDataUrl', 'faviconDataUrl'] as const;

/**
 * Throws `invalid_request` if a picture is not what its data URL claims (control-plane-api.md "Branding
 * configuration").
 */
export function assertImages(branding: Partial<Record<(typeof images)[number], string | null | undefined>>): void {
  const message = 'The content is not a PNG, JPEG, WebP, SVG or icon, or does not match the type in the data URL';
  const details = images
    .filter((name) => typeof branding[name] === 'string' && imageTypeOf(branding[name]) === undefined)
    .map((name) => ({ path: `branding.${name}`, message }));
  if (details.length > 0) throw new ApiError('invalid_request', message, { details });
}
