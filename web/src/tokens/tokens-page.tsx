import 'virtual:texts/tokens';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { KeySquare } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { useClientSession } from '../conversation/client-session.ts';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { EmptyState, Section } from '../layout/section.tsx';
import { AllTokensCard } from './all-tokens-card.tsx';
import { CreateTokenDialog } from './create-token-dialog.tsx';
import { TokenList } from './token-list.tsx';
import { TokenPolicyCard } from './token-policy-card.tsx';
import { tokensQuery } from './token-queries.ts';

/** `/settings/tokens`: the user's access tokens; for administrators also the policy and everybody's tokens. */
export function TokensPage() {
  const t = useText();
  const { user } = useClientSession();
  const queries = useQueryClient();
  const { data, error } = useQuery(tokensQuery);
  const [isCreating, setCreating] = useState(false);
  const isAdmin = user.role === 'admin';
  const create = (
    <Button leftSection={<KeySquare size={16} aria-hidden />} onClick={() => setCreating(true)}>
      {t('tokens.add')}
    </Button>
  );
  const mayCreate = data?.allowed === true;
  const isEmpty = data?.tokens.length === 0;
  const close = () => {
    setCreating(false);
    void queries.invalidateQueries({ queryKey: ['tokens'] });
  };
  return (
    <Section title={t('settings.tokens')} text={t('tokens.text')} action={mayCreate && !isEmpty ? create : undefined}>
      <FormFailure failure={error ?? undefined} />
      {data || error ? null : <Loading />}
      {data?.allowed === false ? <Notice kind="info">{t('tokens.notAllowed')}</Notice> : null}
      {mayCreate && isEmpty ? (
        <EmptyState title={t('tokens.emptyTitle')} text={t('tokens.emptyText')} action={create} />
      ) : null}
      <TokenList
        label={t('settings.tokens')}
        tokens={data?.tokens ?? []}
        onDelete={(id) => call('DELETE /api/me/tokens', { query: { id } })}
      />
      {isAdmin ? <TokenPolicyCard /> : null}
      {isAdmin ? <AllTokensCard /> : null}
      {isCreating ? <CreateTokenDialog maxDays={data?.maxDays ?? null} isAdmin={isAdmin} onClose={close} /> : null}
    </Section>
  );
}
