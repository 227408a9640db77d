import english from 'virtual:catalogue/en';
import { setupI18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { useCallback } from 'react';
import type { TextId } from './text-ids.ts';

export type { TextId } from './text-ids.ts';

type TextValues = Record<string, string | number | Date>;
export type Translate = (id: TextId, values?: TextValues) => string;

export const i18n = setupI18n({ locale: 'en', messages: { en: english } });

/** For texts outside components. */
export const translate: Translate = (id, values) => i18n._(id, values);

/**
 * The only way to a visible text: `const t = useText(); t('composer.send')`. The function changes only with the
 * language: texts that arrive with a lazy part do not restart effects.
 */
export function useText(): Translate {
  const { locale } = useLingui().i18n;
  return useCallback((id, values) => i18n._(id, values), [locale]);
}
