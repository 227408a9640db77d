import type { Check } from '@homeport/contracts/checks';
import { Button } from '@mantine/core';
import { useText } from '../../i18n/i18n.ts';
import { AttentionRow } from './attention-row.tsx';
import { actionOf, checkText } from './check-texts.ts';

/** One result of the installation check, with the button that does something about it. */
export function CheckRow({ check, isMaking, onBackup }: { check: Check; isMaking: boolean; onBackup: () => void }) {
  const t = useText();
  const { text, advice } = checkText(check, t);
  const action = actionOf(check);
  return (
    <AttentionRow
      state={check.state}
      text={text}
      {...(advice === undefined ? {} : { advice })}
      action={
        action === undefined ? null : action.kind === 'backup' ? (
          <Button size="compact-sm" variant="default" loading={isMaking} onClick={onBackup}>
            {t('check.makeBackup')}
          </Button>
        ) : (
          <Button
            component="a"
            size="compact-sm"
            variant="default"
            href={`/docs/${action.page}`}
            target="_blank"
            rel="noopener"
            aria-label={`${t('check.guide')}: ${text}`}
          >
            {t('check.guide')}
          </Button>
        )
      }
    />
  );
}
