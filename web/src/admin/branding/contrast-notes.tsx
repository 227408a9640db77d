import type { Branding } from '@homeport/contracts/system';
import { Button } from '@mantine/core';
import { Notice } from '../../forms/notice.tsx';
import { numberLocale } from '../../i18n/format-locale.ts';
import { useText } from '../../i18n/i18n.ts';
import { shownColors } from '../../theme/theme.ts';
import classes from './branding.module.css';
import { contrastText, readable } from './branding-values.ts';

/** Contrast warnings for the colors, with the readable color that is shown instead. */
export function ContrastNotes({ branding, onUse }: { branding: Branding; onUse: (color: string) => void }) {
  const t = useText();
  const { primaryColor, primaryForegroundColor } = branding;
  const { ratio, text } = contrastText(primaryColor, primaryForegroundColor, numberLocale());
  const { onPrimary, accent } = shownColors(branding);
  const adjusted = (['light', 'dark'] as const).filter(
    (scheme) => accent[scheme].toLowerCase() !== primaryColor.toLowerCase(),
  );
  return (
    <>
      {ratio >= readable ? (
        <Notice kind="success">{t('branding.contrastOk', { ratio: text })}</Notice>
      ) : (
        <Notice
          kind="warning"
          title={t('branding.contrastLow', { ratio: text })}
          action={
            <Button size="compact-sm" variant="default" onClick={() => onUse(onPrimary)}>
              {t('branding.contrastUse', { color: onPrimary })}
            </Button>
          }
        >
          {t('branding.contrastLowText', { color: onPrimary })}
        </Notice>
      )}
      {adjusted.map((scheme) => (
        <p key={scheme} className={classes.adjusted}>
          <span className={classes.dot} style={{ background: accent[scheme] }} />
          {t(scheme === 'light' ? 'branding.accentLight' : 'branding.accentDark', { color: accent[scheme] })}
        </p>
      ))}
    </>
  );
}
