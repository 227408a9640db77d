import 'virtual:texts/instructions';
import 'virtual:texts/projects';
import 'virtual:texts/pages';
import 'virtual:texts/assistants';
import '../forms/forms.css';
import '../forms/switch.css';
import type { Assistant } from '@homeport/contracts/assistants';
import { limits } from '@homeport/contracts/limits';
import { Switch, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { call } from '../api/api.ts';
import { useClientSession } from '../conversation/client-session.ts';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { InstructionsField } from '../instructions/instructions-field.tsx';
import { ParameterFields } from '../instructions/parameter-fields.tsx';
import { parameterErrors } from '../instructions/parameter-values.ts';
import { UnsavedGuard } from '../layout/dialogs/unsaved-guard.tsx';
import { assistantQuery } from '../layout/records/assistant-queries.ts';
import { Card } from '../layout/section.tsx';
import { showToast } from '../layout/toasts.tsx';
import {
  type AssistantValues,
  assistantBody,
  assistantFaults,
  assistantValues,
  emptyValues,
} from './assistant-values.ts';
import { AudienceField } from './audience-field.tsx';
import { IconField } from './icon-field.tsx';
import { ModelOrTierField } from './model-or-tier-field.tsx';
import { ServersField } from './servers-field.tsx';
import { StartersField } from './starters-field.tsx';

type Props = {
  assistant: Assistant | undefined;
  onDirty: (isDirty: boolean) => void;
  /** Called with what the fields have. */
  onValues: (values: AssistantValues) => void;
  /** The card of its files. */
  knowledge: ReactNode;
  onCreated?: ((id: string) => void) | undefined;
};

/** Makes an assistant or changes one. */
export function AssistantForm({ assistant, onDirty, onValues, knowledge, onCreated }: Props) {
  const t = useText();
  const { user } = useClientSession();
  // Changes that other people save meanwhile don't make this form dirty.
  const [stored, setStored] = useState(() => (assistant ? assistantValues(assistant) : undefined));
  const save = useSave(assistant, stored, onCreated);
  const { form, formProps, isBusy, failure } = useApiForm<AssistantValues>({
    initialValues: stored ?? emptyValues,
    validate: (values) => assistantFaults(values, t),
    fieldOf: (path) => (path === 'modelId' || path === 'tier' ? 'answerer' : path),
    submit: async (values) => {
      const saved = await save(values);
      setStored(assistantValues(saved));
      form.setValues(assistantValues(saved));
    },
  });
  const { values, errors } = form;
  const isDirty = Object.keys(assistantBody(values, stored ?? emptyValues)).length > 0;
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  useEffect(() => onValues(values), [values, onValues]);
  const put = (next: Partial<AssistantValues>) => {
    form.clearErrors();
    form.setValues(next);
  };
  return (
    <form {...formProps} onSubmit={own(formProps.onSubmit)} className={formClasses.form}>
      <UnsavedGuard isDirty={isDirty} />
      <Card title={t('assistant.about')}>
        <div className={formClasses.form}>
          <TextInput
            {...form.getInputProps('name')}
            label={t('assistant.name')}
            placeholder={t('assistant.namePlaceholder')}
            maxLength={limits.assistantNameMax}
            autoComplete="off"
            data-autofocus
          />
          <TextInput
            {...form.getInputProps('description')}
            label={t('assistant.description')}
            description={t('assistant.descriptionHint')}
            autoComplete="off"
          />
          <IconField name={values.name} value={values.icon} onChange={(icon) => put({ icon })} error={errors.icon} />
        </div>
      </Card>
      <Card title={t('assistant.task')}>
        <div className={formClasses.form}>
          <InstructionsField
            label={t('assistant.instructions')}
            hint={t('assistant.instructionsHint')}
            value={values.instructions}
            onChange={(instructions) => put({ instructions })}
            error={errors.instructions}
          />
          <StartersField value={values.starters} onChange={(starters) => put({ starters })} errors={errors} />
        </div>
      </Card>
      {knowledge}
      <Card title={t('assistant.how')}>
        <div className={formClasses.form}>
          <ModelOrTierField
            value={values.answerer}
            onChange={(answerer) => put({ answerer })}
            error={errors.answerer}
            isMissing={stored?.answerer === 'missing'}
          />
          <ServersField
            value={values.mcpServerIds}
            onChange={(mcpServerIds) => put({ mcpServerIds })}
            missing={assistant?.missing.mcpServers ?? 0}
          />
          <Switch
            label={t('assistant.workspace')}
            description={t('assistant.workspaceHint')}
            checked={values.workspace}
            onChange={(event) => put({ workspace: event.currentTarget.checked })}
          />
          <ParameterFields
            values={values.parameters}
            onChange={(parameters) => put({ parameters })}
            errors={parameterErrors(errors)}
            hint={t('assistant.parametersHint')}
          />
        </div>
      </Card>
      <Card title={t('assistant.sharing')}>
        <AudienceField
          value={values}
          onChange={put}
          error={errors.projectId}
          isOwn={!assistant || assistant.ownerId === user.id}
        />
      </Card>
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        <SubmitButton
          label={t(stored ? 'form.save' : 'assistant.create')}
          busyLabel={t('form.saving')}
          isBusy={isBusy}
        />
      </div>
    </form>
  );
}

/** Without the submit events of forms in dialogs that the form's parts open. */
function own(onSubmit: (event: FormEvent<HTMLFormElement>) => void) {
  return (event: FormEvent<HTMLFormElement>) => {
    if (event.target === event.currentTarget) onSubmit(event);
  };
}

/** Saves what is changed, and goes where the person wants to be next. */
function useSave(
  assistant: Assistant | undefined,
  stored: AssistantValues | undefined,
  onCreated: ((id: string) => void) | undefined,
) {
  const t = useText();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async (values: AssistantValues): Promise<Assistant> => {
    const body = assistantBody(values, stored);
    let saved = assistant;
    if (!saved) saved = (await call('POST /api/assistants', { body: { ...body, name: values.name.trim() } })).assistant;
    else if (Object.keys(body).length > 0)
      saved = (await call('PATCH /api/assistants', { body: { id: saved.id, ...body } })).assistant;
    const { id, name, version } = saved;
    if (!assistant) onCreated?.(id);
    queries.setQueryData(assistantQuery(id).queryKey, saved);
    void queries.invalidateQueries({ queryKey: ['assistants'] });
    showToast(assistant ? t('assistant.saved', { version }) : t('assistant.created', { name }));
    if (!assistant)
      await navigate({
        to: '/assistants/$assistantId',
        params: { assistantId: id },
        replace: true,
        ignoreBlocker: true,
      });
    return saved;
  };
}
