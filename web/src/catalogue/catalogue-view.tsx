import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { publicConfigQuery } from '../api/queries.ts';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { useCatalogueApi } from './catalogue-api.ts';
import classes from './catalogue-view.module.css';

export type Catalogue = NonNullable<ReturnType<typeof useCatalogue>>;

export function useCatalogue() {
  return useCatalogueWithTiers().data;
}

/** The catalogue with `ownTiers`: those that its own models can have, without the tiers of shared models. */
function useCatalogueWithTiers() {
  const api = useCatalogueApi();
  const catalogue = useQuery(api.query);
  const tiers = useQuery(api.tiersQuery);
  return {
    data: catalogue.data && tiers.data ? { ...catalogue.data, ownTiers: tiers.data.modelTiers } : undefined,
    error: catalogue.error ?? tiers.error,
    refetch: () => Promise.all([catalogue.refetch(), tiers.refetch()]),
  };
}

/** The catalogue once it is loaded, below a notice if it cannot be changed. */
export function CatalogueView({ children }: { children: (catalogue: Catalogue) => ReactNode }) {
  const t = useText();
  const { data, error, refetch } = useCatalogueWithTiers();
  const { data: config } = useQuery(publicConfigQuery);
  if (data) {
    return (
      <>
        {data.canEdit ? null : (
          <Notice kind="info">
            {t(config?.edition === 'managed' ? 'settings.readOnlyManaged' : 'settings.readOnlyOff')}
          </Notice>
        )}
        {children(data)}
      </>
    );
  }
  if (error) {
    return (
      <>
        <FormFailure failure={error} />
        <Button variant="default" onClick={() => void refetch()}>
          {t('app.retry')}
        </Button>
      </>
    );
  }
  return <Loading />;
}

/** Appears only if the wait is noticeable. */
export function Loading() {
  const t = useText();
  return (
    <div className={classes.loading}>
      <span role="status" className="visually-hidden">
        {t('app.loading')}
      </span>
      <div className={classes.block} aria-busy="true" />
      <div className={classes.block} aria-busy="true" />
    </div>
  );
}
