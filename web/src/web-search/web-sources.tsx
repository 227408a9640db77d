import 'virtual:texts/web-search';
import type { WebSource } from '@homeport/contracts/web-search';
import { UnstyledButton } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { useText } from '../i18n/i18n.ts';
import { WebSourceDialog } from './web-source-dialog.tsx';
import classes from './web-sources.module.css';

const sourcesQuery = (chatId: string, messageId: string) =>
  queryOptions({
    queryKey: ['web-sources', chatId, messageId],
    gcTime: 60_000,
    queryFn: ({ signal }) => call('GET /api/chats/sources', { query: { chatId, messageId }, signal }),
  });

/** Pages and results from the web behind a finished answer; each opens what the model read. */
export function WebSources({ chatId, messageId }: { chatId: string; messageId: string }) {
  const t = useText();
  const { data } = useQuery(sourcesQuery(chatId, messageId));
  const [opened, setOpened] = useState<WebSource>();
  const sources = data?.sources ?? [];
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
              onClick={() => setOpened(source)}
            >
              <span className={classes.number}>[{source.number}]</span>
              <bdi className={classes.title}>{source.title}</bdi>
              <span className={classes.host}>{hostOf(source.url)}</span>
            </UnstyledButton>
            <QuoteCount quotes={source.quotes} />
          </li>
        ))}
      </ul>
      {opened ? <WebSourceDialog source={opened} onClose={() => setOpened(undefined)} /> : null}
    </section>
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
