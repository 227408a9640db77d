import { limits } from '@homeport/contracts/limits';
import type { Translate } from '../i18n/i18n.ts';

/** Validates instructions for a form. Returns the error text, or null. */
export function instructionsFault(value: string, t: Translate): string | null {
  return value.length > limits.instructionsMax ? t('form.tooLong', { max: limits.instructionsMax }) : null;
}

/** Request value for a text: null if empty. */
export function instructionsBody(value: string): string | null {
  return value.trim() === '' ? null : value;
}
