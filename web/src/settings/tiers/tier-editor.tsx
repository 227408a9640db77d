import '../../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { ApiFailure } from '../../api/api-failure.ts';
import { catalogueQuery } from '../../api/queries.ts';
import { useCatalogueApi } from '../../catalogue/catalogue-api.ts';
import type { Catalogue } from '../../catalogue/catalogue-view.tsx';
import formClasses from '../../forms/form.module.css';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { type Translate, useText } from '../../i18n/i18n.ts';
import { storedTierLabel, tierLabel } from '../../i18n/tier-label.ts';
import { UnsavedGuard } from '../../layout/dialogs/unsaved-guard.tsx';
import { showToast } from '../../layout/toasts.tsx';
import { TierItem } from './tier-item.tsx';
import { moveRow, type TierRow, tierFaults, unusedTierValue } from './tier-rows.ts';
import classes from './tiers.module.css';

/** All tiers as one form: nothing is changed before it is saved. */
export function TierEditor({ catalogue }: { catalogue: Catalogue }) {
  const t = useText();
  const queries = useQueryClient();
  const api = useCatalogueApi();
  const stored = catalogue.ownTiers;
  const [initialValues] = useState(() => ({ tiers: shown(stored, t) }));
  const [announcement, setAnnouncement] = useState('');
  const [dragged, setDragged] = useState<number>();
  const list = useRef<HTMLOListElement>(null);
  const focusNext = useRef<string>(undefined);
  const { form, formProps, isBusy, failure } = useApiForm<{ tiers: TierRow[] }>({
    initialValues,
    validate: ({ tiers }) => tierFaults(tiers, t),
    submit: async ({ tiers }) => {
      const body = {
        tiers: tiers.map(({ value, label }) => ({ value, label: storedTierLabel({ value, label: label.trim() }, t) })),
      };
      const { modelTiers } = await api.replaceTiers(body);
      await queries.invalidateQueries({ queryKey: catalogueQuery.queryKey });
      reset(modelTiers);
      showToast(t('form.saved'));
    },
  });
  const rows = form.values.tiers;
  const isDirty = JSON.stringify(rows) !== JSON.stringify(shown(stored, t));
  const change = (tiers: TierRow[]) => {
    form.clearErrors();
    form.setFieldValue('tiers', tiers);
  };
  const reset = (tiers: readonly TierRow[]) => {
    form.setValues({ tiers: shown(tiers, t) });
    form.clearErrors();
  };

  // A moved row keeps the focus at its new position.
  useEffect(() => {
    const selector = focusNext.current;
    focusNext.current = undefined;
    if (selector !== undefined && rows) list.current?.querySelector<HTMLElement>(selector)?.focus();
  }, [rows]);

  const move = (from: number, to: number, button?: 'up' | 'down') => {
    const row = rows[from];
    if (!row || to < 0 || to >= rows.length) return;
    if (button) focusNext.current = `[data-tier="${row.value}"] [data-move="${button}"]`;
    change(moveRow(rows, from, to));
    setAnnouncement(t('tiers.moved', { name: row.label, number: to + 1, count: rows.length }));
  };
  const remove = (index: number) => {
    const row = rows[index];
    if (!row) return;
    const neighbor = rows[index + 1] ?? rows[index - 1];
    focusNext.current = `[data-tier="${neighbor?.value}"] input`;
    change(rows.filter((each) => each !== row));
    setAnnouncement(t('tiers.removed', { name: row.label }));
  };
  const add = () => {
    const value = unusedTierValue(rows, stored);
    focusNext.current = `[data-tier="${value}"] input`;
    change([...rows, { value, label: '' }]);
  };
  const dragOver = (index: number) => {
    const from = rows.findIndex((row) => row.value === dragged);
    if (from >= 0 && from !== index) move(from, index);
  };
  return (
    <form {...formProps} className={formClasses.form}>
      <UnsavedGuard isDirty={isDirty} />
      <ol className={classes.list} aria-label={t('tiers.list')} ref={list}>
        {rows.map((row, index) => (
          <TierItem
            key={row.value}
            row={row}
            index={index}
            count={rows.length}
            modelCount={modelsOf(catalogue, row.value).length}
            input={form.getInputProps(`tiers.${index}.label`)}
            isDragged={dragged === row.value}
            onMove={(to, button) => move(index, to, button)}
            onRemove={() => remove(index)}
            onDrag={(isDragged) => setDragged(isDragged ? row.value : undefined)}
            onDragOver={() => dragOver(index)}
          />
        ))}
      </ol>
      <span role="status" className="visually-hidden">
        {announcement}
      </span>
      <TierFailure
        failure={failure}
        catalogue={catalogue}
        onPutBack={(values) => {
          const missing = stored.filter(
            (tier) => values.includes(tier.value) && !rows.some((row) => row.value === tier.value),
          );
          change([...rows, ...shown(missing, t)]);
        }}
      />
      <div className={formClasses.actions}>
        <Button
          variant="default"
          className={formClasses.spread}
          leftSection={<Plus size={16} aria-hidden />}
          disabled={rows.length >= limits.tierCountMax}
          onClick={add}
        >
          {t('tiers.add')}
        </Button>
        {isDirty ? (
          <>
            <Button variant="subtle" color="gray" onClick={() => reset(stored)}>
              {t('tiers.reset')}
            </Button>
            <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
          </>
        ) : null}
      </div>
    </form>
  );
}

/** Why the tiers were refused; for those still in use, which models use them. */
function TierFailure({
  failure,
  catalogue,
  onPutBack,
}: {
  failure: unknown;
  catalogue: Catalogue;
  onPutBack: (values: readonly number[]) => void;
}) {
  const t = useText();
  if (!(failure instanceof ApiFailure) || failure.code !== 'tier_in_use') return <FormFailure failure={failure} />;
  const values = readTiers(failure.details);
  const used = catalogue.ownTiers.filter((tier) => values.includes(tier.value));
  return (
    <Notice
      kind="failure"
      title={t('tiers.inUseTitle')}
      action={
        <Button size="compact-sm" variant="default" onClick={() => onPutBack(values)}>
          {t('tiers.putBack')}
        </Button>
      }
    >
      <ul className={classes.used}>
        {used.map((tier) => (
          <li key={tier.value}>
            {t('tiers.inUseTier', { tier: tierLabel(tier, t), models: modelsOf(catalogue, tier.value).join(', ') })}
          </li>
        ))}
      </ul>
      {t('tiers.inUseText')}
    </Notice>
  );
}

function modelsOf(catalogue: Catalogue, tier: number): string[] {
  const models = catalogue.providers.flatMap((provider) => provider.models);
  return models.filter((model) => model.tier === tier).map((model) => model.displayName);
}

function readTiers(details: unknown): number[] {
  const tiers: unknown = typeof details === 'object' && details !== null ? Reflect.get(details, 'tiers') : undefined;
  return Array.isArray(tiers) ? tiers.filter((value) => typeof value === 'number') : [];
}

function shown(tiers: readonly TierRow[], t: Translate): TierRow[] {
  return tiers.map((tier) => ({ value: tier.value, label: tierLabel(tier, t) }));
}
