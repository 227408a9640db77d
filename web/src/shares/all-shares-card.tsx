import '../forms/forms.css';
import 'virtual:texts/shares';
import type { AdminConfig } from '@homeport/contracts/admin';
import type { PeopleSearch } from '@homeport/contracts/projects';
import type { ManagedShare, SharingPolicy } from '@homeport/contracts/sharing';
import { Button, NativeSelect } from '@mantine/core';
import { infiniteQueryOptions, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { configQuery } from '../api/queries.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { FormFailure } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { lazyComponent } from '../layout/lazy-component.tsx';
import { Card, EmptyState } from '../layout/section.tsx';
import { showFailure, showToast } from '../layout/toasts.tsx';
import { useShareFacts } from './share-facts.ts';
import classes from './shares-page.module.css';

const ConfirmDialog = lazyComponent(async () => (await import('../layout/dialogs/confirm-dialog.tsx')).ConfirmDialog);

const allSharesQuery = infiniteQueryOptions({
  queryKey: ['admin-shares'],
  queryFn: ({ pageParam, signal }) =>
    call('GET /api/admin/shares', {
      query: { limit: '50', ...(pageParam === '' ? {} : { cursor: pageParam }) },
      signal,
    }),
  initialPageParam: '',
  getNextPageParam: (page) => page.nextCursor,
});

/** For administrators: the installation's setting, and the links of all people. */
export function AllSharesCard() {
  const t = useText();
  const { data, error } = useQuery(configQuery);
  return (
    <Card title={t('share.adminTitle')} text={t('share.adminText')}>
      <FormFailure failure={error ?? undefined} />
      {data ? <PolicyChoice stored={data} /> : null}
      <AllShares />
    </Card>
  );
}

const peopleSearches = ['projects', 'everyone'] as const satisfies readonly PeopleSearch[];
const policies = ['off', 'inside', 'public'] as const satisfies readonly SharingPolicy[];

function PolicyChoice({ stored }: { stored: AdminConfig }) {
  const t = useText();
  const queries = useQueryClient();
  const save = async (body: { sharing: SharingPolicy } | { peopleSearch: PeopleSearch }) => {
    try {
      queries.setQueryData(configQuery.queryKey, await call('POST /api/admin/config', { body }));
      showToast(t('share.policySaved'));
    } catch (failure) {
      showFailure(t('settings.changeFailed'), failureText(failure, t));
    }
  };
  return (
    <div className={classes.choices}>
      <NativeSelect
        label={t('share.policy')}
        value={stored.sharing}
        onChange={(event) => void save({ sharing: event.currentTarget.value as SharingPolicy })}
        data={policies.map((value) => ({ value, label: t(`share.policy.${value}`) }))}
      />
      <NativeSelect
        label={t('share.find')}
        description={t('share.findHint')}
        value={stored.peopleSearch}
        onChange={(event) => void save({ peopleSearch: event.currentTarget.value as PeopleSearch })}
        data={peopleSearches.map((value) => ({ value, label: t(`share.find.${value}`) }))}
      />
    </div>
  );
}

function AllShares() {
  const t = useText();
  const queries = useQueryClient();
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery(allSharesQuery);
  const [isBusy, setBusy] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const shares = data?.pages.flatMap((page) => page.shares) ?? [];
  const end = async (query: { id: string } | { all: '1' }) => {
    if (isBusy) return;
    setBusy(true);
    try {
      showToast(t('share.ended', { count: (await call('DELETE /api/admin/shares', { query })).deleted }));
    } catch (failure) {
      showFailure(t('settings.changeFailed'), failureText(failure, t));
    }
    await queries.invalidateQueries({ queryKey: allSharesQuery.queryKey });
    void queries.invalidateQueries({ queryKey: ['shares'] });
    setBusy(false);
  };
  if (error) return <FormFailure failure={error} />;
  if (!data) return <Loading />;
  if (shares.length === 0) return <EmptyState text={t('share.adminNone')} />;
  return (
    <>
      <ul className={classes.list}>
        {shares.map((share) => (
          <ManagedRow key={share.id} share={share} onEnd={() => void end({ id: share.id })} />
        ))}
      </ul>
      <div className={classes.actions}>
        {hasNextPage ? (
          <Button variant="default" onClick={() => void fetchNextPage()}>
            {t('share.more')}
          </Button>
        ) : null}
        <Button variant="default" color="red" onClick={() => setAsking(true)}>
          {t('share.endAllOf')}
        </Button>
      </div>
      {isAsking ? (
        <ConfirmDialog
          title={t('share.endAllOfTitle')}
          text={t('share.endAllOfText')}
          confirmLabel={t('share.endAll')}
          onConfirm={() => {
            setAsking(false);
            void end({ all: '1' });
          }}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </>
  );
}

function ManagedRow({ share, onEnd }: { share: ManagedShare; onEnd: () => void }) {
  const t = useText();
  const facts = useShareFacts(share);
  const title = t(`share.kind.${share.kind}`, { name: share.owner.name });
  return (
    <li className={classes.row}>
      <div className={classes.about}>
        <bdi className={classes.name} title={share.owner.email}>
          {title}
        </bdi>
        <div className={classes.detail}>{facts}</div>
      </div>
      <Button size="compact-sm" variant="subtle" aria-label={t('share.endNamed', { title })} onClick={onEnd}>
        {t('share.end')}
      </Button>
    </li>
  );
}
