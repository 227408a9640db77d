import { z } from 'zod';

/**
 * Turns line breaks and control characters into spaces, and drops marks that change the direction of the text after
 * them.
 */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .trim();
}

/** A name or a title: one line of text, cleaned before it is measured, so that it cannot affect the text beside it. */
export const line = (min: number, max: number) => z.string().overwrite(oneLine).min(min).max(max);
