import 'virtual:texts/web-search';
import type { WebSource } from '@homeport/contracts/web-search';
import { UnstyledButton } from '@mantine/core';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import { useText } from '../i18n/i18n.ts';
import classes from './web-sources.module.css';

export const webSourcesQuery = (chatId: string, messageId: string) =>
  queryOptions({
    queryKey: ['web-sources', chatId, messageId],
    gcTime: 60_000,
    queryFn: ({ signal }) => call('GET /api/chats/sources', { query: { chatId, messageId }, signal }),
  });

/** A source to show, at the words that the answer quotes. */
export type OpenedSource = { source: WebSource; quote?: string | undefined };
type OnOpen = (opened: OpenedSource) => void;

/** Pages and results from the web behind a finished answer; each opens what the model read. */
export function WebSources({ sources, onOpen }: { sources: readonly WebSource[]; onOpen: OnOpen }) {
  const t = useText();
  if (sources.length === 0) return null;
  return (
    <section className={classes.sources} aria-label={t('webSearch.sources')} data-part="web-sources">
      <h3>{t('webSearch.sources')}</h3>
      <ul>
        {sources.map((source) => (
          <li key={source.id}>
            <UnstyledButton
              className={classes.source}
              aria-label={t('webSearch.open', { title: source.title })}
              onClick={() => onOpen({ source })}
            >
              <span className={classes.number}>[{source.number}]</span>
              <bdi className={classes.title}>{source.title}</bdi>
              <span className={classes.host}>{hostOf(source.url)}</span>
            </UnstyledButton>
            <QuoteCount quotes={source.quotes} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The number of a source in the text of an answer. */
export function WebSourceMark({ source, onOpen }: { source: WebSource; onOpen: () => void }) {
  const t = useText();
  const { number, title, url } = source;
  return (
    <UnstyledButton
      className={classes.mark}
      title={`${title} ${hostOf(url)}`}
      aria-label={t('webSearch.openNumber', { number, title })}
      onClick={onOpen}
    >
      [{number}]
    </UnstyledButton>
  );
}

function QuoteCount({ quotes }: Pick<WebSource, 'quotes'>) {
  const t = useText();
  if (quotes.length === 0) return null;
  const found = quotes.filter((quote) => quote.found).length;
  return (
    <span className={classes.quotes} data-unmatched={found < quotes.length || undefined}>
      {t('webSearch.quotesFound', { found, count: quotes.length })}
    </span>
  );
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
