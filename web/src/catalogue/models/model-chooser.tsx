import '../../forms/forms.css';
import type { Model, ModelTier, Provider } from '@homeport/contracts/catalogue/catalogue';
import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { catalogueQuery } from '../../api/queries.ts';
import classes from '../../forms/form.module.css';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import { useCatalogueApi } from '../catalogue-api.ts';
import { ProviderTestResult } from '../provider-test-result.tsx';
import { useProviderTest } from '../use-provider-test.ts';
import { type AddedModels, addModels } from './add-models.ts';
import chooserClasses from './model-chooser.module.css';
import { ModelIdField } from './model-id-field.tsx';
import { ModelList } from './model-list.tsx';
import { ModelSizeFields } from './model-size-fields.tsx';
import { defaultSizes, sizeFaults } from './model-values.ts';

type Props = {
  provider: Provider;
  tiers: readonly ModelTier[];
  /** Models from a test just made; without them, the component asks the provider. */
  found?: readonly ListedModel[];
  submitLabel: (count: number) => string;
  onAdded: (models: readonly Model[]) => void;
  onDirty?: (isDirty: boolean) => void;
  beside?: ReactNode;
};

/** Selects models from the provider's list or by id, and adds them all at once. */
export function ModelChooser({ provider, tiers, found, submitLabel, onAdded, onDirty, beside }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const api = useCatalogueApi();
  const listed = useListedModels(provider, found);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const known = new Map(listed.models.map((model) => [model.id, model]));
  const [own, setOwn] = useState<readonly string[]>([]);
  const [progress, setProgress] = useState(0);
  const [refused, setRefused] = useState<AddedModels['failed']>([]);
  const [isEmptyRefused, setEmptyRefused] = useState(false);
  const existing = new Set(provider.models.map((model) => model.providerModelId));
  const { form, formProps, isBusy, failure } = useApiForm({
    initialValues: defaultSizes(tiers),
    validate: (values) => sizeFaults(values, t),
    submit: async (sizes) => {
      setRefused([]);
      setEmptyRefused(chosen.length === 0);
      if (chosen.length === 0) return;
      const { added, failed } = await addModels(
        api,
        { providerId: provider.id, ids: chosen, sizes, known },
        setProgress,
      );
      await queries.invalidateQueries({ queryKey: catalogueQuery.queryKey });
      setChosen(failed.map(({ id }) => id));
      setRefused(failed);
      if (failed.length === 0) onAdded(added);
    },
  });
  // The size fields are hidden for known sizes, and stay visible for rejected ones.
  const asksSizes = chosen.some((id) => !areSizesKnown(known.get(id))) || Object.keys(form.errors).length > 0;
  const isDirty = chosen.length > 0;
  useEffect(() => onDirty?.(isDirty), [isDirty, onDirty]);
  const toggle = (id: string) => {
    setEmptyRefused(false);
    setChosen(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  };
  const addOwn = (id: string) => {
    if (!known.has(id) || known.get(id)?.chat === false) setOwn([...own, id]);
    if (!chosen.includes(id)) toggle(id);
  };
  return (
    <form {...formProps} className={classes.form}>
      {listed.state.kind === 'failed' ? (
        <ProviderTestResult
          state={listed.state}
          baseUrl={provider.baseUrl}
          action={
            <Button size="compact-sm" variant="default" onClick={listed.retry}>
              {t('app.retry')}
            </Button>
          }
        />
      ) : null}
      {listed.isLoading ? (
        <LoadingList name={provider.name} />
      ) : (
        <ModelList
          name={provider.name}
          models={[...own.map((id) => known.get(id) ?? { id }), ...listed.models.filter(({ chat }) => chat)]}
          otherCount={listed.models.filter(({ id, chat }) => !chat && !own.includes(id)).length}
          existing={existing}
          chosen={chosen}
          onToggle={toggle}
          isEmptyFine={listed.state.kind === 'failed'}
        />
      )}
      <ModelIdField isTaken={(id) => existing.has(id) || chosen.includes(id)} onAdd={addOwn} />
      {isDirty && (asksSizes || tiers.length > 1) ? (
        <fieldset className={chooserClasses.common}>
          <legend className={chooserClasses.commonTitle}>{t(asksSizes ? 'choose.common' : 'choose.commonTier')}</legend>
          <p className={chooserClasses.hint}>{t(asksSizes ? 'choose.commonHint' : 'choose.tierHint')}</p>
          <ModelSizeFields form={form} tiers={tiers} tierOnly={!asksSizes} />
        </fieldset>
      ) : null}
      {isEmptyRefused ? <Notice kind="failure">{t('choose.nothing')}</Notice> : null}
      {refused.length > 0 ? <FormFailure failure={refused[0]?.failure} /> : null}
      {refused.length > 0 ? (
        <Notice kind="warning">{t('choose.failed', { names: refused.map(({ id }) => id).join(', ') })}</Notice>
      ) : null}
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        {beside}
        <SubmitButton
          label={submitLabel(chosen.length)}
          busyLabel={t('choose.adding', { done: progress + 1, count: chosen.length })}
          isBusy={isBusy}
        />
      </div>
    </form>
  );
}

function areSizesKnown(model: ListedModel | undefined): boolean {
  return model?.contextWindow !== undefined && model.maxOutputTokens !== undefined;
}

function LoadingList({ name }: { name: string }) {
  const t = useText();
  return (
    <div className={chooserClasses.loading}>
      <span role="status">{t('choose.loading', { provider: name })}</span>
      <div className={chooserClasses.bars} aria-hidden>
        {[72, 54, 63, 48, 58].map((width) => (
          <div key={width} style={{ width: `${width}%` }} />
        ))}
      </div>
    </div>
  );
}

/** The provider's list: from a test, otherwise requested when this appears. */
function useListedModels(provider: Provider, found: readonly ListedModel[] | undefined) {
  const { state, run } = useProviderTest();
  const ask = useRef(() => void run({ id: provider.id }));
  const isKnown = found !== undefined;
  useEffect(() => {
    if (!isKnown) ask.current();
  }, [isKnown]);
  const models = state.kind === 'found' ? state.models : (found ?? []);
  return {
    state,
    models,
    isLoading: !isKnown && (state.kind === 'idle' || state.kind === 'running'),
    retry: ask.current,
  };
}
