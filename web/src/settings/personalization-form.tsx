import '../forms/forms.css';
import '../forms/switch.css';
import 'virtual:texts/instructions';
import type { Personalization } from '@homeport/contracts/accounts/accounts';
import { NativeSelect, Switch } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { call } from '../api/api.ts';
import { personalizationQuery } from '../api/queries.ts';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { i18n, useText } from '../i18n/i18n.ts';
import { InstructionsField } from '../instructions/instructions-field.tsx';
import { instructionsBody, instructionsFault } from '../instructions/instructions-rules.ts';
import { UnsavedGuard } from '../layout/dialogs/unsaved-guard.tsx';
import { Card } from '../layout/section.tsx';
import { showToast } from '../layout/toasts.tsx';
import { browserLocale, languageChoices, timeZoneChoices } from './locale-choices.ts';

/** '' is not shared. */
type Values = { instructions: string; name: boolean; language: string; timeZone: string };

/** The signed-in user's instructions for models, and the facts about themselves that models get. */
export function PersonalizationForm({
  userName,
  personalization,
}: {
  userName: string;
  personalization: Personalization;
}) {
  const t = useText();
  const queries = useQueryClient();
  const [initialValues] = useState(() => valuesOf(personalization));
  const { form, formProps, isBusy, failure } = useApiForm<Values>({
    initialValues,
    validate: ({ instructions }) => ({ instructions: instructionsFault(instructions, t) }),
    fieldOf: (path) => path.replace(/^aboutMe\./, ''),
    submit: async ({ instructions, name, language, timeZone }) => {
      const aboutMe = { name, language: language || null, timeZone: timeZone || null };
      const body = { instructions: instructionsBody(instructions), aboutMe };
      const answer = await call('PATCH /api/me/personalization', { body });
      queries.setQueryData(personalizationQuery.queryKey, answer);
      form.setValues(valuesOf(answer.personalization));
      showToast(t('form.saved'));
    },
  });
  const { values } = form;
  return (
    <form {...formProps} className={formClasses.form}>
      <UnsavedGuard isDirty={JSON.stringify(values) !== JSON.stringify(valuesOf(personalization))} />
      <Card title={t('personal.instructions')} text={t('personal.instructionsText')}>
        <InstructionsField
          label={t('personal.label')}
          hint={t('personal.hint')}
          value={values.instructions}
          onChange={(instructions) => form.setFieldValue('instructions', instructions)}
          error={form.errors.instructions}
        />
      </Card>
      <Card title={t('personal.about')} text={t('personal.aboutText')}>
        <div className={formClasses.form}>
          <Switch
            label={t('personal.shareName')}
            description={t('personal.shareNameHint', { name: userName })}
            checked={values.name}
            onChange={(event) => form.setFieldValue('name', event.currentTarget.checked)}
          />
          <LanguageFields
            value={values.language}
            onChange={(language) => form.setFieldValue('language', language)}
            error={form.errors.language}
          />
          <TimeZoneFields
            value={values.timeZone}
            onChange={(timeZone) => form.setFieldValue('timeZone', timeZone)}
            error={form.errors.timeZone}
          />
        </div>
      </Card>
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}

type FieldsProps = { value: string; onChange: (value: string) => void; error: React.ReactNode };

function LanguageFields({ value, onChange, error }: FieldsProps) {
  const t = useText();
  const { language } = browserLocale();
  const choices = useMemo(() => languageChoices(i18n.locale, [value, language]), [value, language]);
  return (
    <>
      <Switch
        label={t('personal.shareLanguage')}
        description={t('personal.shareLanguageHint')}
        checked={value !== ''}
        onChange={(event) => onChange(event.currentTarget.checked ? language : '')}
      />
      {value === '' ? null : (
        <NativeSelect
          label={t('personal.language')}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          error={error}
          data={choices}
        />
      )}
    </>
  );
}

function TimeZoneFields({ value, onChange, error }: FieldsProps) {
  const t = useText();
  const { timeZone } = browserLocale();
  const choices = useMemo(() => timeZoneChoices([value || null, timeZone]), [value, timeZone]);
  return (
    <>
      <Switch
        label={t('personal.shareTimeZone')}
        description={t('personal.shareTimeZoneHint')}
        checked={value !== ''}
        onChange={(event) => onChange(event.currentTarget.checked ? timeZone : '')}
      />
      {value === '' ? null : (
        <NativeSelect
          label={t('personal.timeZone')}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          error={error}
          data={choices}
        />
      )}
    </>
  );
}

function valuesOf({ instructions, aboutMe }: Personalization): Values {
  return {
    instructions: instructions ?? '',
    name: aboutMe.name,
    language: aboutMe.language ?? '',
    timeZone: aboutMe.timeZone ?? '',
  };
}
