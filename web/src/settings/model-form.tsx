import '../forms/forms.css';
import type { Model, ModelTier } from '@homeport/contracts/catalogue';
import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useCatalogueApi } from '../catalogue/catalogue-api.ts';
import { ModelSizeFields } from '../catalogue/model-size-fields.tsx';
import { type ModelValues, modelFaults, modelValues, sizesBody } from '../catalogue/model-values.ts';
import classes from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n.ts';
import { catalogueQuery } from '../queries.ts';

type Props = {
  model: Model;
  tiers: readonly ModelTier[];
  onSaved: () => void;
  onDirty: (isDirty: boolean) => void;
  beside: ReactNode;
};

/** Changes a model. */
export function ModelForm({ model, tiers, onSaved, onDirty, beside }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const api = useCatalogueApi();
  const [initialValues] = useState(() => modelValues(model));
  const { form, formProps, isBusy, failure } = useApiForm<ModelValues>({
    initialValues,
    validate: (values) => modelFaults(values, t),
    submit: async (values) => {
      const { displayName, providerModelId } = values;
      const names = { displayName: displayName.trim(), providerModelId: providerModelId.trim() };
      await api.changeModel({ id: model.id, ...names, ...sizesBody(values) });
      await queries.invalidateQueries({ queryKey: catalogueQuery.queryKey });
      onSaved();
    },
  });
  const isDirty = form.isDirty();
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  return (
    <form {...formProps} className={classes.form}>
      <TextInput
        {...form.getInputProps('displayName')}
        label={t('model.displayName')}
        autoComplete="off"
        data-autofocus
      />
      <TextInput
        {...form.getInputProps('providerModelId')}
        label={t('model.providerModelId')}
        description={t('model.providerModelIdHint')}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
      <ModelSizeFields form={form} tiers={tiers} />
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        {beside}
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
