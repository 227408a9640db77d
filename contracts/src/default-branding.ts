import type { Branding } from './system.ts';

/** Branding of a new installation. The colors have a contrast of 6.3 to 1. */
export const defaultBranding: Readonly<Branding> = {
  productName: 'Homeport',
  tagline: 'Your own place to talk to any model',
  logoDataUrl: null,
  faviconDataUrl: null,
  primaryColor: '#4f46e5',
  primaryForegroundColor: '#ffffff',
};
