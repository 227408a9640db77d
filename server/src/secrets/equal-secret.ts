import { hash, timingSafeEqual } from 'node:crypto';

/**
 * Compares two secrets in a time that reveals neither content nor length. An empty or missing secret equals nothing, so
 * that an unset setting never matches an empty answer.
 */
export function equalSecret(expected: string | undefined, given: unknown): boolean {
  if (expected === undefined || expected === '' || typeof given !== 'string' || given === '') return false;
  return timingSafeEqual(hash('sha256', expected, 'buffer'), hash('sha256', given, 'buffer'));
}
