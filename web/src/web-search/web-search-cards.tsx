import 'virtual:texts/web-search';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { Card } from '../layout/section.tsx';
import { generalWebSearchQuery, ownWebSearchQuery } from './web-search-api.ts';
import { WebSearchForm } from './web-search-form.tsx';

/** Search service of the installation, for administrators. */
export function WebSearchCard() {
  const t = useText();
  const queries = useQueryClient();
  const { data, error } = useQuery(generalWebSearchQuery);
  return (
    <Card title={t('webSearch.title')} text={t('webSearch.text')}>
      <FormFailure failure={data ? undefined : (error ?? undefined)} />
      {data ? (
        <WebSearchForm
          stored={data.webSearch}
          isGeneral
          offLabel={t('webSearch.off')}
          save={async ({ forEveryone, askAfterReading }, service) => {
            const body = { ...service, forEveryone, askAfterReading };
            queries.setQueryData(generalWebSearchQuery.queryKey, await call('PUT /api/admin/web-search', { body }));
            await queries.invalidateQueries({ queryKey: ownWebSearchQuery.queryKey });
          }}
          test={(body) => call('POST /api/admin/web-search/test', { body })}
        />
      ) : null}
    </Card>
  );
}

/** Search service of the signed-in person. */
export function OwnWebSearchCard() {
  const t = useText();
  const queries = useQueryClient();
  const { data, error } = useQuery(ownWebSearchQuery);
  const own = data?.webSearch;
  return (
    <Card title={t('webSearch.title')} text={t(own?.isOffered ? 'webSearch.ownTextOffered' : 'webSearch.ownText')}>
      <FormFailure failure={own ? undefined : (error ?? undefined)} />
      {own ? (
        <WebSearchForm
          stored={own}
          isGeneral={false}
          isAskForced={own.isAskForced}
          offLabel={t(own.isOffered ? 'webSearch.useGeneral' : 'webSearch.none')}
          save={async ({ askAfterReading }, service) => {
            const body = {
              ...service,
              askAfterReading: askAfterReading === 'off' ? ('off' as const) : ('on' as const),
            };
            queries.setQueryData(ownWebSearchQuery.queryKey, await call('PUT /api/me/web-search', { body }));
          }}
          test={(body) => call('POST /api/me/web-search/test', { body })}
        />
      ) : null}
    </Card>
  );
}
