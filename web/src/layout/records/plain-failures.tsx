import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { catalogueQuery } from '../../api/queries.ts';
import { setPlainWording } from '../../i18n/error-texts.ts';
import { i18n, useText } from '../../i18n/i18n.ts';
import { useAccess } from '../use-access.ts';
import { plainTextOf } from './plain-wording.ts';
import { useAdministrators } from './use-administrators.ts';

/** Words failures of models and tools for a person who cannot fix them, while it is mounted. Renders nothing. */
export function PlainFailures() {
  const t = useText();
  const { isAdmin, canEditTools } = useAccess();
  const { data } = useQuery(catalogueQuery);
  const { names } = useAdministrators();
  // Only shared models: their provider belongs to another user.
  const isNeeded = data !== undefined && !isAdmin && !data.providers.some(({ canEdit }) => canEdit);
  useEffect(() => {
    if (!isNeeded) return;
    setPlainWording((failure) => {
      const text = plainTextOf(failure, canEditTools);
      return text === undefined ? undefined : t(text, { names });
    });
    // Failures on the page are worded again.
    i18n.load(i18n.locale, {});
    return () => setPlainWording(undefined);
  }, [isNeeded, canEditTools, names, t]);
  return null;
}
