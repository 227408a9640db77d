import { limits } from '@homeport/contracts/limits';
import type { Translate } from '../i18n/i18n.ts';

/**
 * Field rules for forms, as in the endpoint table; each returns the text to show, or null. The server decides in the
 * end.
 */

export function nameFault(value: string, t: Translate): string | null {
  const { length } = value.trim();
  if (length === 0) return t('form.required');
  if (length >= limits.nameMin && length <= limits.nameMax) return null;
  return t('form.nameLength', { min: limits.nameMin, max: limits.nameMax });
}

export function emailFault(value: string, t: Translate): string | null {
  const email = value.trim();
  if (email === '') return t('form.required');
  return /^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(email) && email.length <= limits.emailMax ? null : t('form.email');
}

/** The three rules of a new password (contract.md section 3), each with whether it is met. */
export function passwordRules(value: string): { name: 'Length' | 'Letter' | 'Digit'; isMet: boolean }[] {
  return [
    { name: 'Length', isMet: value.length >= limits.passwordMin && value.length <= limits.passwordMax },
    { name: 'Letter', isMet: /\p{L}/u.test(value) },
    { name: 'Digit', isMet: /\p{Nd}/u.test(value) },
  ];
}

export function newPasswordFault(value: string, t: Translate): string | null {
  return passwordRules(value).every((rule) => rule.isMet) ? null : t('person.passwordRules');
}

/** Something of at most `max` characters. */
export function textFault(value: string, max: number, t: Translate): string | null {
  const { length } = value.trim();
  if (length === 0) return t('form.required');
  return length > max ? t('form.tooLong', { max }) : null;
}

export function baseUrlFault(value: string, t: Translate): string | null {
  const text = value.trim();
  if (text === '') return t('form.required');
  if (text.length > limits.baseUrlMax) return t('form.tooLong', { max: limits.baseUrlMax });
  const url = URL.parse(text);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.hash === '';
  return isPlain && /^https?:\/\//i.test(text) ? null : t('provider.baseUrlBad');
}

export function apiKeyFault(value: string, t: Translate): string | null {
  const key = value.trim();
  if (key.length > limits.apiKeyMax) return t('form.tooLong', { max: limits.apiKeyMax });
  return /^[\x21-\x7e]*$/.test(key) ? null : t('provider.apiKeyBad');
}

/** A number field's value is '' while it is empty. */
export function countFault(value: number | string, t: Translate): string | null {
  const isCount = typeof value === 'number' && Number.isInteger(value);
  if (isCount && value >= 1 && value <= limits.contextWindowMax) return null;
  return t('form.number', { max: limits.contextWindowMax });
}
