import type { ApiFailure } from '../api/api-failure.ts';
import { numberLocale } from './format-locale.ts';
import type { Translate } from './i18n.ts';

/** Error message for an answer that a proxy gave in place of the server; undefined for other failures. */
export function proxyFailureText({ code, status, proxy }: ApiFailure, t: Translate): string | undefined {
  switch (code) {
    case 'proxy_sign_in':
      return t('failure.proxySignIn');
    case 'proxy_too_large': {
      const name = proxy?.name ?? t('failure.proxy');
      const size = sizeText(proxy?.bytes, t);
      if (proxy?.sizeSetting === undefined) return t('failure.proxyTooLarge', { name, size });
      return t('failure.proxyTooLargeSetting', { name, size, setting: proxy.sizeSetting });
    }
    case 'proxy_failed':
      return t('failure.proxyFailed', { name: proxy?.name ?? t('failure.proxy'), status: String(status) });
    default:
      return undefined;
  }
}

function sizeText(bytes: number | undefined, t: Translate): string {
  if (bytes === undefined) return t('failure.ofThisSize');
  const isSmall = bytes < 1_000_000;
  const format = { style: 'unit', unit: isSmall ? 'kilobyte' : 'megabyte', maximumFractionDigits: 1 } as const;
  const size = new Intl.NumberFormat(numberLocale(), format).format(bytes / (isSmall ? 1_000 : 1_000_000));
  return t('failure.ofSize', { size });
}
