import 'virtual:texts/instructions';
import 'virtual:texts/projects';
import 'virtual:texts/pages';
import 'virtual:texts/assistants';
import '../../forms/forms.css';
import type { Audience } from '@homeport/contracts/catalogue/sharing';
import { limits } from '@homeport/contracts/limits';
import type { Prompt } from '@homeport/contracts/prompts';
import { Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { call } from '../../api/api.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import { findPlaceholders } from '../../conversation/draft/placeholders.ts';
import formClasses from '../../forms/form.module.css';
import { FormFailure } from '../../forms/notice.tsx';
import { textFault } from '../../forms/rules.ts';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { i18n, type Translate, useText } from '../../i18n/i18n.ts';
import { showToast } from '../../layout/toasts.tsx';
import { AudienceField } from '../audience-field.tsx';
import { nameOf } from './prompt-file.ts';
import classes from './prompts.module.css';

type Values = { title: string; name: string; text: string; audience: Audience; projectId: string | null };

type Props = {
  /** The one to change; undefined makes a new one. */
  prompt: Prompt | undefined;
  onSaved: () => void;
  onDirty: (isDirty: boolean) => void;
  beside: ReactNode;
};

/** Makes a prompt or changes one. Its name follows its title until it is typed. */
export function PromptForm({ prompt, onSaved, onDirty, beside }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const { user } = useClientSession();
  const [initialValues] = useState(() => valuesOf(prompt));
  const [isNamed, setNamed] = useState(prompt !== undefined);
  const { form, formProps, isBusy, failure } = useApiForm<Values>({
    initialValues,
    validate: (values) => faults(values, t),
    placeFailure: ({ code }) => (code === 'id_taken' ? { field: 'name', text: t('prompts.nameTaken') } : undefined),
    submit: async (values) => {
      const { audience, projectId } = values;
      const content = { title: values.title.trim(), name: values.name, text: values.text };
      if (prompt) {
        const isShared = audience !== prompt.audience || projectId !== prompt.projectId;
        const sharing = isShared ? { audience, projectId } : {};
        await call('PATCH /api/prompts', { body: { id: prompt.id, ...content, ...sharing } });
      } else await call('POST /api/prompts', { body: { ...content, audience, projectId } });
      await queries.invalidateQueries({ queryKey: ['prompts'] });
      showToast(t('form.saved'));
      onSaved();
    },
  });
  const isDirty = form.isDirty();
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  const { values } = form;
  const asked = [...new Set(findPlaceholders(values.text).map(({ start, end }) => values.text.slice(start, end)))];
  return (
    <form {...formProps} className={formClasses.form}>
      <TextInput
        {...form.getInputProps('title')}
        label={t('prompts.title')}
        onChange={(event) => {
          const title = event.currentTarget.value;
          form.setFieldValue('title', title);
          if (!isNamed) form.setFieldValue('name', nameOf(title));
        }}
        autoComplete="off"
        data-autofocus
      />
      <TextInput
        {...form.getInputProps('name')}
        label={t('prompts.name')}
        description={t('prompts.nameHint', { name: values.name || t('prompts.nameExample') })}
        leftSection={<span aria-hidden>/</span>}
        onChange={(event) => {
          setNamed(true);
          form.setFieldValue('name', event.currentTarget.value);
        }}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
      <div>
        <Textarea
          {...form.getInputProps('text')}
          label={t('prompts.body')}
          description={t('prompts.bodyHint', { placeholder: `{{${t('prompts.placeholder')}}}` })}
          className={classes.field}
        />
        <p role="status" className={classes.asked}>
          {asked.length > 0
            ? t('prompts.asks', { names: new Intl.ListFormat(i18n.locale).format(asked.slice(0, 8).map(inside)) })
            : ''}
        </p>
      </div>
      <AudienceField
        value={values}
        onChange={(shared) => {
          form.clearErrors();
          form.setValues(shared);
        }}
        error={form.errors.projectId}
        isOwn={!prompt || prompt.ownerId === user.id}
      />
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        {beside}
        <SubmitButton label={t(prompt ? 'form.save' : 'prompts.create')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}

function valuesOf(prompt: Prompt | undefined): Values {
  if (!prompt) return { title: '', name: '', text: '', audience: 'me', projectId: null };
  const { title, name, text, audience, projectId } = prompt;
  return { title, name, text, audience, projectId };
}

function faults({ title, name, text, audience, projectId }: Values, t: Translate) {
  return {
    title: textFault(title, limits.promptTitleMax, t),
    name: /^[a-z0-9-]{1,64}$/.test(name) ? null : t('prompts.nameBad'),
    text: textFault(text, limits.promptTextMax, t),
    projectId: audience === 'project' && projectId === null ? t('audience.projectMissing') : null,
  };
}

function inside(placeholder: string): string {
  return placeholder.slice(2, -2).trim();
}
