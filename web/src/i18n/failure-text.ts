import { ApiFailure } from '../api/api-failure.ts';
import { wordFailure } from './error-texts.ts';
import type { Translate } from './i18n.ts';
import { proxyFailureText } from './proxy-failure-text.ts';

/** Error message for people, in their language. */
export function failureText(error: unknown, t: Translate): string {
  if (!(error instanceof ApiFailure)) return t('failure.unreadable');
  if (error.code === 'network') return t('failure.network');
  return proxyFailureText(error, t) ?? messageText(error, t);
}

function messageText(error: ApiFailure, t: Translate): string {
  const text = wordFailure(error);
  return text === '' ? t('failure.unreadable') : text;
}
