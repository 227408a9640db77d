import { limits } from '@homeport/contracts/limits';
import type { Translate } from '../i18n.ts';

/** What is wrong with a text of instructions, for a form. */
export function instructionsFault(value: string, t: Translate): string | null {
  return value.length > limits.instructionsMax ? t('form.tooLong', { max: limits.instructionsMax }) : null;
}

/** What is sent for a text: null where there is none. */
export function instructionsBody(value: string): string | null {
  return value.trim() === '' ? null : value;
}
