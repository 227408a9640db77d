import '../layout/dialogs/dialogs.css';
import type { WebSource } from '@homeport/contracts/web-search';
import { Modal } from '@mantine/core';
import { useCallback } from 'react';
import { i18n, useText } from '../i18n/i18n.ts';
import { useReturnFocus } from '../layout/dialogs/use-return-focus.ts';
import { areSameWords, markQuotes } from './quote-marks.ts';
import classes from './web-sources.module.css';

type Props = {
  source: WebSource;
  /** Words to show. By default the first ones that the answer quotes. */
  quote?: string | undefined;
  onClose: () => void;
};

/** Text of a source as the model got it, at words that the answer quotes. */
export function WebSourceDialog({ source, quote, onClose }: Props) {
  const t = useText();
  useReturnFocus();
  // The dialog mounts its content later than itself, so that an effect would find no text.
  const showQuote = useCallback(
    (text: HTMLElement | null) => {
      const marks = [...(text?.querySelectorAll('mark') ?? [])];
      const meant = marks.find((mark) => quote !== undefined && areSameWords(mark.textContent, quote));
      (meant ?? marks[0])?.scrollIntoView({ block: 'center' });
    },
    [quote],
  );
  const { title, url, readAt, isPage, quotes } = source;
  const time = new Intl.DateTimeFormat(i18n.locale, { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(readAt),
  );
  const label = t('webSearch.textRead');
  const found = quotes.flatMap((each) => (each.found ? [each.text] : []));
  const pieces = markQuotes(source.text, found);
  return (
    <Modal opened onClose={onClose} title={<bdi>{title}</bdi>} size="48rem">
      <p className={classes.about}>
        {isPage ? null : <span>{t('webSearch.result')} · </span>}
        <time dateTime={readAt}>{t('webSearch.readAt', { time })}</time>
        {' · '}
        <a href={url} target="_blank" rel="noopener noreferrer nofollow" title={url}>
          {t('webSearch.visit')}
        </a>
      </p>
      {quotes.length === 0 ? null : (
        <>
          <h3 className={classes.heading}>{t('webSearch.quotes')}</h3>
          <ul className={classes.quoteList}>
            {quotes.map((each, index) => (
              <li key={index} data-unmatched={!each.found || undefined}>
                <q>{each.text}</q>{' '}
                <span className={classes.verdict}>{t(each.found ? 'webSearch.found' : 'webSearch.notFound')}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <h3 className={classes.heading}>{label}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section ref={showQuote} className={classes.text} tabIndex={0} dir="auto" aria-label={label}>
        {pieces.map(({ text: piece, isQuote }, index) =>
          isQuote ? <mark key={index}>{piece}</mark> : <span key={index}>{piece}</span>,
        )}
      </section>
    </Modal>
  );
}
