import 'virtual:texts/backups';
import '../forms/forms.css';
import '../forms/switch.css';
import type { OperationSettings } from '@homeport/contracts/operation-settings';
import { NumberInput, Switch } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../api/api.ts';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { numberSeparators } from '../forms/number-separators.ts';
import { SubmitButton } from '../forms/submit-button.tsx';
import { type ApiForm, useApiForm } from '../forms/use-api-form.ts';
import { numberLocale } from '../i18n/format-locale.ts';
import { type TextId, useText } from '../i18n/i18n.ts';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import { UnsavedGuard } from '../layout/dialogs/unsaved-guard.tsx';
import { Card } from '../layout/section.tsx';
import { showToast } from '../layout/toasts.tsx';
import {
  bounds,
  faultsOf,
  hasValidTime,
  type NumberName,
  type OperationName,
  type OperationValues,
  patchOf,
  valuesOf,
} from './operation-values.ts';
import { ScheduleFields } from './schedule-fields.tsx';

type OperationFormProps = {
  form: ApiForm<OperationValues>['form'];
  settings: OperationSettings;
};

const operationQuery = queryOptions({
  queryKey: ['admin-operation'],
  queryFn: ({ signal }) => call('GET /api/admin/settings', { signal }),
});

/** Some of the settings of the operation. A field that the environment sets is read-only and names its variable. */
export function OperationCard({
  title,
  text,
  names,
}: {
  title: TextId;
  text: TextId;
  names: readonly OperationName[];
}) {
  const t = useText();
  const { data, error } = useQuery(operationQuery);
  return (
    <Card title={t(title)} text={t(text)}>
      {data ? <OperationForm settings={data.settings} names={names} /> : null}
      {error && !data ? <FormFailure failure={error} /> : null}
    </Card>
  );
}

type FormOptions = {
  settings: OperationSettings;
  names: readonly OperationName[];
  /** In a dialog: the button beside "Save", and a callback for afterwards. */
  beside?: ReactNode;
  onSaved?: () => void;
};

function OperationForm({ settings, names, beside, onSaved }: FormOptions) {
  const t = useText();
  const queries = useQueryClient();
  const { form, formProps, isBusy, failure } = useApiForm<OperationValues>({
    initialValues: valuesOf(settings),
    validate: (values) => ({
      ...Object.fromEntries(faultsOf(values, names).map((name) => [name, t('operation.numberFault', bounds[name])])),
      time: hasValidTime(values) ? null : t('operation.timeFault'),
    }),
    fieldOf: (path) => (path === 'backupSchedule' ? 'rhythm' : path),
    submit: async (values) => {
      const answer = await call('PATCH /api/admin/settings', { body: patchOf(values, settings, names) });
      queries.setQueryData(operationQuery.queryKey, answer);
      for (const queryKey of [['admin-backups'], ['admin-overview'], ['admin-audit']])
        void queries.invalidateQueries({ queryKey });
      form.setValues(valuesOf(answer.settings));
      form.resetDirty(valuesOf(answer.settings));
      showToast(t('operation.saved'));
      onSaved?.();
    },
  });
  const isChanged =
    faultsOf(form.values, names).length > 0 || Object.keys(patchOf(form.values, settings, names)).length > 0;
  const isFixed = names.every((name) => settings[name].source === 'environment');
  return (
    <form {...formProps} className={formClasses.form}>
      <UnsavedGuard isDirty={isChanged} />
      {names.map((name) => (
        <Field key={name} name={name} form={form} settings={settings} />
      ))}
      <FormFailure failure={failure} />
      {isFixed ? null : (
        <div className={formClasses.actions}>
          {beside}
          <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
        </div>
      )}
    </form>
  );
}

/** The same in a dialog, for pages whose content leaves no room for a card. */
export function OperationDialog({
  title,
  names,
  onClose,
}: {
  title: TextId;
  names: readonly OperationName[];
  onClose: () => void;
}) {
  const t = useText();
  const { data, error } = useQuery(operationQuery);
  return (
    <FormDialog title={t(title)} onClose={onClose}>
      {({ cancel }) =>
        data ? (
          <OperationForm settings={data.settings} names={names} beside={cancel} onSaved={onClose} />
        ) : (
          <FormFailure failure={error ?? undefined} />
        )
      }
    </FormDialog>
  );
}

function Field({ name, form, settings }: OperationFormProps & { name: OperationName }) {
  const t = useText();
  const { source, variable } = settings[name];
  const fixed = source === 'environment' ? t('operation.fixed', { variable }) : undefined;
  if (name === 'backupSchedule') {
    const missing = settings.hasBackupPlace ? undefined : t('operation.placeMissing');
    return <ScheduleFields form={form} isFixed={(fixed ?? missing) !== undefined} hint={fixed ?? missing} />;
  }
  if (name === 'backupWorkspaces') {
    return (
      <Switch
        {...form.getInputProps(name, { type: 'checkbox' })}
        label={t('operation.backupWorkspaces')}
        description={fixed ?? t('operation.backupWorkspacesHint')}
        disabled={fixed !== undefined}
      />
    );
  }
  return <NumberField name={name} form={form} fixed={fixed} />;
}

function NumberField({
  name,
  form,
  fixed,
}: {
  name: NumberName;
  form: OperationFormProps['form'];
  fixed: string | undefined;
}) {
  const t = useText();
  const isSize = name === 'artifactMaxUploadBytes' || name === 'artifactQuotaMb';
  return (
    <NumberInput
      {...form.getInputProps(name)}
      {...numberSeparators(numberLocale())}
      label={t(`operation.${name}`)}
      description={fixed ?? t(`operation.${name}Hint`)}
      suffix={isSize ? ' MB' : undefined}
      hideControls
      allowDecimal={false}
      allowNegative={false}
      readOnly={fixed !== undefined}
      data-fixed={fixed !== undefined || undefined}
    />
  );
}
