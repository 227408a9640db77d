import type { ReactNode } from 'react';
import { locales } from '../i18n/choose-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { useLocale } from '../i18n/locale.ts';
import { taglineOf, useBranding, useTitle } from '../layout/branding.ts';
import classes from './sign-in-layout.module.css';

/** A page outside the frame, for people who are not (quite) signed in yet: logo, one heading, one thing to do. */
export function EntryPage({
  title,
  text,
  above,
  isWide = false,
  children,
}: {
  title: string;
  text?: ReactNode;
  above?: ReactNode;
  isWide?: boolean;
  children?: ReactNode;
}) {
  const t = useText();
  const branding = useBranding();
  const { productName, logoDataUrl } = branding;
  const tagline = taglineOf(branding, t);
  useTitle(title);
  return (
    <div className={classes.page}>
      <header className={classes.brand}>
        <img src={logoDataUrl ?? '/favicon.svg'} alt="" width={32} height={32} className={classes.logo} />
        <div>
          <div className={classes.product}>{productName}</div>
          {tagline ? <div className={classes.tagline}>{tagline}</div> : null}
        </div>
      </header>
      <main id="content" className={classes.card} data-wide={isWide || undefined}>
        {above}
        <h1 className={classes.title}>{title}</h1>
        {text ? <p className={classes.text}>{text}</p> : null}
        {children ? <div className={classes.body}>{children}</div> : null}
      </main>
      <LanguageChoice />
    </div>
  );
}

/** Language menu with each language's own name. Typed input survives the change. */
function LanguageChoice() {
  const t = useText();
  const { locale: active, setLocale } = useLocale();
  return (
    <footer>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for what a form sends */}
      <div role="group" aria-label={t('nav.language')} className={classes.languages}>
        {locales.map(({ locale, name }) => (
          <button
            key={locale}
            type="button"
            lang={locale}
            aria-pressed={locale === active}
            onClick={() => void setLocale(locale)}
            className={classes.language}
          >
            {name}
          </button>
        ))}
      </div>
    </footer>
  );
}
