import 'virtual:texts/mcp';
import '../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import type { McpPrompt } from '@homeport/contracts/mcp/content';
import { Textarea } from '@mantine/core';
import { call } from '../api/api.ts';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import classes from './mcp.module.css';

type Props = { prompt: McpPrompt; onText: (text: string, leftOut: number) => void; onClose: () => void };

/** Asks for the arguments of a server's prompt. The resulting text goes into the message field, unsent. */
export function PromptDialog({ prompt, onText, onClose }: Props) {
  const t = useText();
  const title = prompt.title ?? prompt.name;
  const { form, formProps, isBusy, failure } = useApiForm<{ values: string[] }>({
    initialValues: { values: prompt.arguments.map(() => '') },
    validate: ({ values }) =>
      Object.fromEntries(
        prompt.arguments.map(({ required }, index) => [
          `values.${index}`,
          required && (values[index] ?? '').trim() === '' ? t('mcp.promptMissing') : null,
        ]),
      ),
    submit: async ({ values }) => {
      const given = prompt.arguments.flatMap(({ name }, index) =>
        values[index] ? [[name, values[index]] as const] : [],
      );
      const { text, leftOut } = await call('POST /api/mcp/prompts', {
        body: { id: prompt.serverId, name: prompt.name, arguments: Object.fromEntries(given) },
      });
      onText(text, leftOut);
    },
  });
  return (
    <FormDialog title={title} onClose={onClose}>
      {({ cancel }) => (
        <form {...formProps} className={formClasses.form}>
          <p className={classes.hint}>{prompt.description ?? t('mcp.promptFrom', { name: prompt.serverName })}</p>
          {prompt.arguments.map(({ name, description, required }, index) => (
            <Textarea
              key={name}
              {...form.getInputProps(`values.${index}`)}
              label={required ? name : t('mcp.promptOptional', { name })}
              description={description}
              maxLength={limits.mcpPromptArgumentMax}
              autosize
              minRows={1}
              maxRows={6}
              data-autofocus={index === 0 || undefined}
            />
          ))}
          <FormFailure failure={failure} />
          <div className={formClasses.actions}>
            {cancel}
            <SubmitButton label={t('mcp.promptInsert')} busyLabel={t('mcp.resourceReading')} isBusy={isBusy} />
          </div>
        </form>
      )}
    </FormDialog>
  );
}
