import type { Branding } from '@homeport/contracts/system';
import type { CSSProperties } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { taglineOf } from '../../layout/branding.ts';
import { shownColors } from '../../theme/theme.ts';
import classes from './branding.module.css';

/**
 * A small preview in both color schemes, regardless of the page's own. Its text is decorative: it repeats the fields.
 */
export function BrandingPreview({ branding }: { branding: Branding }) {
  const t = useText();
  return (
    <figure className={classes.preview} aria-label={t('branding.preview')}>
      <Scheme branding={branding} scheme="light" />
      <Scheme branding={branding} scheme="dark" />
    </figure>
  );
}

const surfaces = {
  light: {
    '--p-surface': '#ffffff',
    '--p-side': '#f7f7f8',
    '--p-text': '#1b1c1e',
    '--p-soft': '#5f6368',
    '--p-line': '#e3e4e8',
    '--p-active': '#e4e4e8',
  },
  dark: {
    '--p-surface': '#17181a',
    '--p-side': '#111214',
    '--p-text': '#e6e7e9',
    '--p-soft': '#a1a5ab',
    '--p-line': '#2b2d32',
    '--p-active': '#2e3136',
  },
} as const;

function Scheme({ branding, scheme }: { branding: Branding; scheme: 'light' | 'dark' }) {
  const t = useText();
  const { primary, onPrimary, accent } = shownColors(branding);
  const colors: CSSProperties & Record<`--${string}`, string> = {
    ...surfaces[scheme],
    '--p-primary': primary,
    '--p-on-primary': onPrimary,
    '--p-accent': accent[scheme],
  };
  return (
    <div className={classes.scheme} style={colors} data-scheme={scheme}>
      <div className={classes.tab}>
        <img src={branding.faviconDataUrl ?? '/favicon.svg'} alt="" width={13} height={13} />
        <span>{branding.productName}</span>
      </div>
      <div className={classes.window}>
        <div className={classes.side}>
          <div className={classes.brand}>
            <img src={branding.logoDataUrl ?? '/favicon.svg'} alt="" width={18} height={18} />
            <span>{branding.productName}</span>
          </div>
          <span className={classes.line} data-active />
          <span className={classes.line} />
          <span className={classes.line} />
        </div>
        <div className={classes.stage}>
          <span className={classes.productName}>{branding.productName}</span>
          <span className={classes.tagline}>{taglineOf(branding, t)}</span>
          <span className={classes.link}>{t('branding.previewLink')}</span>
          <span className={classes.button}>{t('branding.previewButton')}</span>
        </div>
      </div>
      <span className={classes.schemeName}>{t(scheme === 'light' ? 'theme.light' : 'theme.dark')}</span>
    </div>
  );
}
