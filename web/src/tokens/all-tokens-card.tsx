import { useInfiniteQuery } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { MoreButton } from '../layout/more-button.tsx';
import { Card } from '../layout/section.tsx';
import { TokenList } from './token-list.tsx';
import { allTokensQuery } from './token-queries.ts';

/** The tokens of all users, which an administrator can delete but not use. */
export function AllTokensCard() {
  const t = useText();
  const query = useInfiniteQuery(allTokensQuery);
  const tokens = query.data?.pages.flatMap((page) => page.tokens) ?? [];
  return (
    <Card title={t('tokens.all')} text={t(query.data && tokens.length === 0 ? 'tokens.allNone' : 'tokens.allText')}>
      <FormFailure failure={query.error ?? undefined} />
      <TokenList
        label={t('tokens.all')}
        tokens={tokens}
        onDelete={(id) => call('DELETE /api/admin/tokens', { query: { id } })}
      />
      <MoreButton query={query} />
    </Card>
  );
}
