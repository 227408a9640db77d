import 'virtual:texts/mcp';
import { ActionIcon, Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { PencilLine, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { FormFailure } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import { EmptyState, focusSectionTitle, Section } from '../layout/section.tsx';
import { showFailure, showToast } from '../layout/toasts.tsx';
import { OfferForm } from '../mcp/offers/offer-form.tsx';
import { OfferReview } from '../mcp/offers/offer-review.tsx';
import { adminOffersQuery, type CountedMcpOffer, offeredQuery, placeOf } from '../mcp/offers/offers-api.ts';
import { WebSearchCard } from '../web-search/web-search-cards.tsx';
import classes from './admin.module.css';
import { formatDay } from './format.ts';

type Dialog =
  | { kind: 'form'; offer: CountedMcpOffer | undefined }
  | { kind: 'withdraw' | 'review' | 'endTrust'; offer: CountedMcpOffer };

/** `/settings/admin/mcp`: the MCP servers that are offered to everybody. */
export function OfferedServersPage() {
  const t = useText();
  const queries = useQueryClient();
  const { data, error } = useQuery(adminOffersQuery);
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: adminOffersQuery.queryKey }),
      queries.invalidateQueries({ queryKey: offeredQuery.queryKey }),
      queries.invalidateQueries({ queryKey: ['mcp'] }),
    ]);
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setDialog({ kind: 'form', offer: undefined })}>
      {t('offers.add')}
    </Button>
  );
  const remove = async (what: 'offer' | 'trust', { id, name }: CountedMcpOffer) => {
    close();
    try {
      if (what === 'offer') await call('DELETE /api/admin/mcp/offers', { query: { id } });
      else await call('DELETE /api/admin/mcp/offers/trust', { query: { id } });
      showToast(t(what === 'offer' ? 'offers.withdrawn' : 'offers.trustEnded', { name }));
    } catch (failure) {
      showFailure(t('settings.changeFailed'), failureText(failure, t));
    }
    await refresh();
    focusSectionTitle();
  };
  const offers = data?.offers ?? [];
  return (
    <Section title={t('settings.offers')} text={t('offers.text')} action={offers.length > 0 ? add : undefined}>
      {error && !data ? <FormFailure failure={error} /> : null}
      {data || error ? null : <Loading />}
      {data && offers.length === 0 ? (
        <EmptyState title={t('offers.emptyTitle')} text={t('offers.emptyText')} action={add} />
      ) : null}
      {offers.length > 0 ? (
        <ul className={classes.list} aria-label={t('settings.offers')}>
          {offers.map((offer) => (
            <OfferRow
              key={offer.id}
              offer={offer}
              onReview={() => setDialog({ kind: 'review', offer })}
              onEndTrust={() => setDialog({ kind: 'endTrust', offer })}
              onEdit={() => setDialog({ kind: 'form', offer })}
              onWithdraw={() => setDialog({ kind: 'withdraw', offer })}
            />
          ))}
        </ul>
      ) : null}
      <WebSearchCard />
      {dialog?.kind === 'form' ? (
        <FormDialog
          title={dialog.offer ? t('mcp.editTitle', { name: dialog.offer.name }) : t('offers.addTitle')}
          onClose={close}
        >
          {({ onDirty, cancel }) => (
            <OfferForm
              offer={dialog.offer}
              onDirty={onDirty}
              beside={cancel}
              onSaved={() => {
                close();
                void refresh();
              }}
            />
          )}
        </FormDialog>
      ) : null}
      {dialog?.kind === 'withdraw' ? (
        <ConfirmDialog
          title={t('offers.withdrawTitle', { name: dialog.offer.name })}
          text={t('offers.withdrawText', { count: dialog.offer.servers })}
          confirmLabel={t('offers.withdraw')}
          onConfirm={() => void remove('offer', dialog.offer)}
          onClose={close}
        />
      ) : null}
      {dialog?.kind === 'endTrust' ? (
        <ConfirmDialog
          title={t('offers.endTrustTitle', { name: dialog.offer.name })}
          text={t('offers.endTrustText')}
          confirmLabel={t('offers.endTrust')}
          onConfirm={() => void remove('trust', dialog.offer)}
          onClose={close}
        />
      ) : null}
      {dialog?.kind === 'review' ? <OfferReview offer={dialog.offer} onClose={close} /> : null}
    </Section>
  );
}

type RowProps = {
  offer: CountedMcpOffer;
  onReview: () => void;
  onEndTrust: () => void;
  onEdit: () => void;
  onWithdraw: () => void;
};

function OfferRow({ offer, onReview, onEndTrust, onEdit, onWithdraw }: RowProps) {
  const t = useText();
  const { name, description, servers, drifted, trustedAt } = offer;
  return (
    <li className={classes.row}>
      <div className={classes.about}>
        <div className={classes.name}>
          <bdi>{name}</bdi>
        </div>
        <div className={classes.detail}>
          {description ? <span>{description}</span> : null}
          <span>{placeOf(offer)}</span>
          <span>{t('offers.people', { count: servers })}</span>
          <span>{trustFact(offer, t)}</span>
        </div>
        {drifted > 0 ? <p className={classes.drift}>{t('offers.drifted', { count: drifted })}</p> : null}
        <div className={classes.offerActions}>
          <Button size="compact-sm" variant={drifted > 0 ? 'filled' : 'default'} onClick={onReview}>
            {t(trustedAt === null ? 'offers.review' : 'offers.reviewAgain')}
            <span className="visually-hidden"> {name}</span>
          </Button>
          {trustedAt === null ? null : (
            <Button size="compact-sm" variant="subtle" color="gray" onClick={onEndTrust}>
              {t('offers.endTrust')}
              <span className="visually-hidden"> {name}</span>
            </Button>
          )}
        </div>
      </div>
      <ActionIcon variant="subtle" color="gray" size={30} aria-label={t('mcp.editNamed', { name })} onClick={onEdit}>
        <PencilLine size={16} />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={30}
        aria-label={t('offers.withdrawNamed', { name })}
        onClick={onWithdraw}
      >
        <Trash2 size={16} />
      </ActionIcon>
    </li>
  );
}

function trustFact({ trustedAt, trustedBy }: CountedMcpOffer, t: Translate): string {
  if (trustedAt === null) return t('offers.untrusted');
  const date = formatDay(trustedAt);
  return trustedBy === null ? t('offers.trustedUnnamed', { date }) : t('offers.trusted', { name: trustedBy, date });
}
