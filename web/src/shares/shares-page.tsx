import 'virtual:texts/shares';
import type { Share } from '@homeport/contracts/sharing';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { useClientSession } from '../conversation/client-session.ts';
import { FormFailure } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { lazyComponent } from '../layout/lazy-component.tsx';
import { sharesQuery } from '../layout/records/shares-api.ts';
import { EmptyState, Section } from '../layout/section.tsx';
import { showFailure, showToast } from '../layout/toasts.tsx';
import { useShareFacts } from './share-facts.ts';
import classes from './shares-page.module.css';

const AllSharesCard = lazyComponent(async () => (await import('./all-shares-card.tsx')).AllSharesCard);
const ShareChangeDialog = lazyComponent(async () => (await import('./share-change-dialog.tsx')).ShareChangeDialog);
const ConfirmDialog = lazyComponent(async () => (await import('../layout/dialogs/confirm-dialog.tsx')).ConfirmDialog);

/** `/settings/shares`: the person's shared links. */
export function SharesPage() {
  const t = useText();
  const queries = useQueryClient();
  const { user } = useClientSession();
  const { data, error } = useQuery(sharesQuery);
  const [isBusy, setBusy] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [changing, setChanging] = useState<Share>();
  const shares = data?.shares ?? [];
  const run = async (work: () => Promise<string>) => {
    if (isBusy) return;
    setBusy(true);
    try {
      showToast(await work());
    } catch (failure) {
      showFailure(t('settings.changeFailed'), failureText(failure, t));
    }
    await queries.invalidateQueries({ queryKey: sharesQuery.queryKey });
    setBusy(false);
  };
  const end = (query: { id: string } | { all: '1' }) =>
    run(async () => t('share.ended', { count: (await call('DELETE /api/shares', { query })).deleted }));
  const update = (id: string) =>
    run(async () => {
      await call('POST /api/shares/update', { body: { id } });
      return t('share.updated');
    });
  return (
    <Section
      title={t('share.listTitle')}
      text={t('share.listText')}
      action={
        shares.length > 1 ? (
          <Button variant="default" onClick={() => setAsking(true)}>
            {t('share.endAll')}
          </Button>
        ) : undefined
      }
    >
      <FormFailure failure={error ?? undefined} />
      {data || error ? null : <Loading />}
      {data && shares.length === 0 ? <EmptyState text={t('share.none')} /> : null}
      <ul className={classes.list}>
        {shares.map((share) => (
          <ShareRow
            key={share.id}
            share={share}
            onChange={() => setChanging(share)}
            onUpdate={() => void update(share.id)}
            onEnd={() => void end({ id: share.id })}
          />
        ))}
      </ul>
      {user.role === 'admin' ? <AllSharesCard /> : null}
      {changing && data ? (
        <ShareChangeDialog
          share={changing}
          policy={data.sharing}
          onChanged={() => {
            setChanging(undefined);
            void run(async () => t('share.changed'));
          }}
          onClose={() => setChanging(undefined)}
        />
      ) : null}
      {isAsking ? (
        <ConfirmDialog
          title={t('share.endAllTitle')}
          text={t('share.endAllText')}
          confirmLabel={t('share.endAll')}
          onConfirm={() => {
            setAsking(false);
            void end({ all: '1' });
          }}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </Section>
  );
}

type RowProps = { share: Share; onChange: () => void; onUpdate: () => void; onEnd: () => void };

function ShareRow({ share, onChange, onUpdate, onEnd }: RowProps) {
  const t = useText();
  const facts = useShareFacts(share);
  const { title } = share;
  return (
    <li className={classes.row}>
      <div className={classes.about}>
        <bdi className={classes.name}>{title}</bdi>
        <div className={classes.detail}>{facts}</div>
      </div>
      <div className={classes.rowActions}>
        <Button size="compact-sm" variant="default" aria-label={t('share.changeNamed', { title })} onClick={onChange}>
          {t('share.change')}
        </Button>
        <Button size="compact-sm" variant="default" aria-label={t('share.updateNamed', { title })} onClick={onUpdate}>
          {t('share.update')}
        </Button>
        <Button size="compact-sm" variant="subtle" aria-label={t('share.endNamed', { title })} onClick={onEnd}>
          {t('share.end')}
        </Button>
      </div>
    </li>
  );
}
