import type { Chat } from '@homeport/contracts/chat/conversations';
import type { ToolRules } from '@homeport/contracts/chat/tool-rules';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { call } from '../../api/api.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import formClasses from '../../forms/form.module.css';
import { FormFailure } from '../../forms/notice.tsx';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import { InstructionsField } from '../../instructions/instructions-field.tsx';
import { instructionsBody, instructionsFault } from '../../instructions/instructions-rules.ts';
import { ParameterFields } from '../../instructions/parameter-fields.tsx';
import {
  type ParameterValues,
  parameterErrors,
  parameterFormFaults,
  parametersOf,
  parameterValues,
} from '../../instructions/parameter-values.ts';
import { givenRules, PresetChoice, RuleList } from '../../rules/rules-editor.tsx';
import { showToast } from '../toasts.tsx';
import { FormDialog } from './form-dialog.tsx';

type Values = { instructions: string; parameters: ParameterValues; toolRules: ToolRules | null };

/** Dialog for the instructions and parameters of one conversation. */
export function ChatInstructionsDialog({ chat, onClose }: { chat: Chat; onClose: () => void }) {
  const t = useText();
  return (
    <FormDialog title={t('chatInstructions.title')} onClose={onClose}>
      {({ onDirty, cancel }) => (
        <ChatInstructionsForm chat={chat} onSaved={onClose} onDirty={onDirty} beside={cancel} />
      )}
    </FormDialog>
  );
}

function ChatInstructionsForm(props: {
  chat: Chat;
  onSaved: () => void;
  onDirty: (isDirty: boolean) => void;
  beside: ReactNode;
}) {
  const { chat, onSaved, onDirty, beside } = props;
  const t = useText();
  const queries = useQueryClient();
  const { conversation } = useClientSession();
  const [initialValues] = useState(
    (): Values => ({
      instructions: chat.instructions ?? '',
      parameters: parameterValues(chat.parameters),
      toolRules: chat.toolRules,
    }),
  );
  const { form, formProps, isBusy, failure } = useApiForm<Values>({
    initialValues,
    validate: ({ instructions, parameters }) => ({
      instructions: instructionsFault(instructions, t),
      ...parameterFormFaults(parameters, t),
    }),
    submit: async ({ instructions, parameters, toolRules }) => {
      // Rules that an approval left have no preset of their own, and get none by being shown here.
      const hasNewRules = JSON.stringify(toolRules) !== JSON.stringify(initialValues.toolRules);
      const told = {
        instructions: instructionsBody(instructions),
        parameters: parametersOf(parameters),
        ...(hasNewRules ? { toolRules: toolRules && givenRules(toolRules) } : {}),
      };
      await call('PATCH /api/chats', { body: { id: chat.id, ...told } });
      conversation(chat.id).follow();
      void queries.invalidateQueries({ queryKey: ['chats'] });
      showToast(t('chatInstructions.saved'));
      onSaved();
    },
  });
  const isDirty = form.isDirty();
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  const { values } = form;
  return (
    <form {...formProps} className={formClasses.form}>
      <InstructionsField
        label={t('chatInstructions.label')}
        hint={t('chatInstructions.hint')}
        value={values.instructions}
        onChange={(instructions) => form.setFieldValue('instructions', instructions)}
        error={form.errors.instructions}
        isFocused
      />
      <ParameterFields
        values={values.parameters}
        onChange={(parameters) => {
          form.clearErrors();
          form.setValues({ parameters });
        }}
        errors={parameterErrors(form.errors)}
        hint={t('parameters.chatHint')}
      />
      <PresetChoice
        legend={t('rules.here')}
        mine={t('rules.asMine')}
        value={values.toolRules?.preset}
        onChange={(preset) =>
          form.setValues({ toolRules: preset ? { preset, rules: values.toolRules?.rules ?? [] } : null })
        }
      />
      {values.toolRules ? (
        <RuleList
          rules={values.toolRules.rules}
          onChange={(rules) => form.setValues({ toolRules: values.toolRules && { ...values.toolRules, rules } })}
        />
      ) : null}
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        {beside}
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
