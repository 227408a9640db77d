import '../forms/forms.css';
import type { Model, ModelTier } from '@homeport/contracts/catalogue/catalogue';
import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { catalogueQuery } from '../api/queries.ts';
import { useCatalogueApi } from '../catalogue/catalogue-api.ts';
import { FactFields } from '../catalogue/models/fact-fields.tsx';
import { ModelLessons } from '../catalogue/models/model-lessons.tsx';
import { type FactValues, factFaults, modelFormValues, modelPatch } from '../catalogue/models/model-patch.ts';
import { ModelSizeFields } from '../catalogue/models/model-size-fields.tsx';
import { type ModelValues, modelFaults } from '../catalogue/models/model-values.ts';
import { StandInsField } from '../catalogue/models/stand-ins-field.tsx';
import classes from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { ParameterFields } from '../instructions/parameter-fields.tsx';
import {
  type ParameterValues,
  parameterErrors,
  parameterFormFaults,
  parametersOf,
  parameterValues,
} from '../instructions/parameter-values.ts';

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
  const [initialValues] = useState(() => ({
    ...modelFormValues(model),
    parameters: parameterValues(model.parameters),
  }));
  const { form, formProps, isBusy, failure } = useApiForm<
    ModelValues & FactValues & { parameters: ParameterValues; standIns: string[] }
  >({
    initialValues,
    validate: (values) => ({
      ...modelFaults(values, t),
      ...factFaults(values, t),
      ...parameterFormFaults(values.parameters, t),
    }),
    submit: async (values) => {
      await api.changeModel({ ...modelPatch(model, values), parameters: parametersOf(values.parameters) });
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
      <ModelSizeFields form={form} tiers={tiers} model={model} />
      <FactFields model={model} form={form} />
      <StandInsField
        model={model}
        value={form.values.standIns}
        onChange={(standIns) => form.setFieldValue('standIns', standIns)}
      />
      <ModelLessons model={model} onUse={(size, tokens) => form.setFieldValue(size, tokens)} />
      <ParameterFields
        label={t('parameters.advanced')}
        values={form.values.parameters}
        onChange={(parameters) => {
          form.clearErrors();
          form.setValues({ parameters });
        }}
        errors={parameterErrors(form.errors)}
        hint={t('parameters.modelHint')}
        withoutLength
      />
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        {beside}
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
