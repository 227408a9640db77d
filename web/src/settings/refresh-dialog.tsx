import 'virtual:texts/catalogue';
import type { Model, Provider } from '@homeport/contracts/catalogue/catalogue';
import type { FactName } from '@homeport/contracts/catalogue/model-facts';
import { Button, Loader } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { catalogueQuery } from '../api/queries.ts';
import { useCatalogueApi } from '../catalogue/catalogue-api.ts';
import { priceText } from '../catalogue/models/model-facts.ts';
import { ProviderTestResult } from '../catalogue/provider-test-result.tsx';
import { type ModelChange, refreshChanges, removedModels } from '../catalogue/refresh-changes.ts';
import { useProviderTest } from '../catalogue/use-provider-test.ts';
import classes from '../forms/form.module.css';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { numberLocale } from '../i18n/format-locale.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import { showToast } from '../layout/toasts.tsx';
import own from './refresh-dialog.module.css';

/** Previews the changes to a provider's models from its current list and the registry, then applies them. */
export function RefreshDialog({ provider, onClose }: { provider: Provider; onClose: () => void }) {
  const t = useText();
  const { state, run } = useProviderTest();
  const ask = useRef(() => void run({ id: provider.id }));
  useEffect(() => ask.current(), []);
  return (
    <FormDialog title={t('refresh.title', { name: provider.name })} onClose={onClose}>
      {({ cancel }) => {
        if (state.kind === 'failed') return <ProviderTestResult state={state} baseUrl={provider.baseUrl} />;
        if (state.kind !== 'found') return <Loader aria-label={t('app.loading')} />;
        const gone = removedModels(provider.models, state.models);
        return (
          <div className={classes.form}>
            {gone.length === 0 ? null : (
              <Notice kind="warning" title={t('refresh.gone')}>
                {t('refresh.goneText', { names: gone.map(({ displayName }) => displayName).join(', ') })}
              </Notice>
            )}
            <Changes changes={refreshChanges(provider.models, state.models)} beside={cancel} onDone={onClose} />
          </div>
        );
      }}
    </FormDialog>
  );
}

type ChangesProps = { changes: readonly ModelChange[]; beside: ReactNode; onDone: () => void };

function Changes({ changes, beside, onDone }: ChangesProps) {
  const t = useText();
  const queries = useQueryClient();
  const api = useCatalogueApi();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const count = changes.reduce((sum, { fields }) => sum + fields.length, 0);
  const apply = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      for (const { body } of changes) await api.changeModel(body);
      showToast(t('refresh.applied', { count: changes.length }));
      onDone();
    } catch (error) {
      setFailure(error);
      setBusy(false);
    } finally {
      await queries.invalidateQueries({ queryKey: catalogueQuery.queryKey });
    }
  };
  if (count === 0) {
    return (
      <>
        <Notice kind="success">{t('refresh.none')}</Notice>
        <div className={classes.actions}>
          <Button onClick={onDone} data-autofocus>
            {t('app.close')}
          </Button>
        </div>
      </>
    );
  }
  return (
    <>
      <p className={own.text}>{t('refresh.text')}</p>
      <ul className={own.models}>
        {changes.map(({ model, fields }) => (
          <li key={model.id}>
            <bdi className={own.name}>{model.displayName}</bdi>
            <dl className={own.fields}>
              {fields.map(({ name, source, before, after }) => (
                <div key={name}>
                  <dt>{t(`refresh.field.${name}`)}</dt>
                  <dd>
                    {t('refresh.change', { before: shown(name, before, t), after: shown(name, after, t) })}
                    {source === 'person' ? null : <span className={own.source}>{t(`refresh.source.${source}`)}</span>}
                  </dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ul>
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        {beside}
        <Button aria-disabled={isBusy} onClick={() => void apply()} data-autofocus>
          {t(isBusy ? 'form.saving' : 'refresh.apply', { count })}
        </Button>
      </div>
    </>
  );
}

function shown(name: FactName, value: unknown, t: Translate): string {
  if (typeof value === 'number') return new Intl.NumberFormat(numberLocale()).format(value);
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return t('refresh.unknown');
  return name === 'prices' ? shownPrices(value, t) : shownAbilities(value, t);
}

function shownPrices(value: object, t: Translate): string {
  const prices = { input: null, output: null, cachedInput: null, cacheWrite: null, ...value };
  return priceText(prices, numberLocale()) ?? t('refresh.unknown');
}

function shownAbilities(value: Partial<Model['abilities']>, t: Translate): string {
  const words = [
    ...(value.images ? [t('facts.images')] : []),
    ...(value.documents ? [t('facts.documents')] : []),
    ...(value.tools ? [t('facts.tools')] : []),
    ...(value.reasoning ? [[t('facts.reasoning'), ...value.reasoning].join(' ')] : []),
  ];
  return words.length === 0 ? t('facts.text') : words.join(', ');
}
