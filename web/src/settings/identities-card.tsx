import type { Identity } from '@homeport/contracts/accounts/accounts';
import { Button } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { publicConfigQuery } from '../api/queries.ts';
import { FormFailure } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { i18n, useText } from '../i18n/i18n.ts';
import { Card } from '../layout/section.tsx';
import { showFailure, showToast } from '../layout/toasts.tsx';
import { RefusalNotice } from '../sign-in/single-sign-on.tsx';
import classes from './sessions-card.module.css';

const identitiesQuery = queryOptions({
  queryKey: ['identities'],
  queryFn: ({ signal }) => call('GET /api/me/identities', { signal }),
  staleTime: 0,
});

/** Identities that sign in to the account, with a button that links one at the configured provider. */
export function IdentitiesCard() {
  const t = useText();
  const queries = useQueryClient();
  const { data: config } = useQuery(publicConfigQuery);
  const { data, error } = useQuery(identitiesQuery);
  const [isLeaving, setLeaving] = useState(false);
  const [refusal] = useState(() => new URLSearchParams(location.search).get('error'));
  const identities = data?.identities ?? [];
  const sso = config?.sso ?? undefined;
  if (sso === undefined && identities.length === 0) return null;
  const link = async () => {
    setLeaving(true);
    try {
      location.assign((await call('POST /api/me/identities/link', {})).url);
    } catch (failure) {
      const isOld = failure instanceof ApiFailure && failure.code === 'recent_sign_in_required';
      showFailure(t('settings.changeFailed'), isOld ? t('account.identityOld') : failureText(failure, t));
      setLeaving(false);
    }
  };
  const remove = async (id: string) => {
    try {
      await call('DELETE /api/me/identities', { query: { id } });
      showToast(t('account.identityRemoved'));
    } catch (failure) {
      showFailure(t('settings.changeFailed'), failureText(failure, t));
    }
    await queries.invalidateQueries({ queryKey: identitiesQuery.queryKey });
  };
  const isEmpty = identities.length === 0 && sso !== undefined;
  return (
    <Card
      title={t('account.identities')}
      text={isEmpty ? t('account.identitiesNone', { label: sso.label }) : t('account.identitiesText')}
      action={
        sso === undefined ? undefined : (
          <Button size="compact-sm" variant="default" loading={isLeaving} onClick={() => void link()}>
            {t('account.identityLink', { label: sso.label })}
          </Button>
        )
      }
    >
      {refusal === null ? null : <RefusalNotice code={refusal} label={sso?.label} />}
      <FormFailure failure={error ?? undefined} />
      <ul className={classes.sessions}>
        {identities.map((identity) => (
          <IdentityRow key={identity.id} identity={identity} onRemove={() => void remove(identity.id)} />
        ))}
      </ul>
    </Card>
  );
}

function IdentityRow({ identity, onRemove }: { identity: Identity; onRemove: () => void }) {
  const t = useText();
  const name = URL.parse(identity.issuer)?.host ?? identity.issuer;
  const date = new Intl.DateTimeFormat(i18n.locale, { dateStyle: 'medium' }).format(new Date(identity.createdAt));
  return (
    <li className={classes.session}>
      <div className={classes.about}>
        <div className={classes.name} title={identity.issuer}>
          {name}
        </div>
        <div className={classes.detail}>
          <time dateTime={identity.createdAt}>{t('account.identityLinked', { date })}</time>
        </div>
      </div>
      <Button
        size="compact-sm"
        variant="subtle"
        aria-label={t('account.identityRemoveNamed', { name })}
        onClick={onRemove}
      >
        {t('account.identityRemove')}
      </Button>
    </li>
  );
}
