import '../../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import type { McpServer } from '@homeport/contracts/mcp/mcp';
import { TextInput } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import classes from '../../forms/form.module.css';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { PasswordField } from '../../forms/password-field.tsx';
import { textFault } from '../../forms/rules.ts';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import type { McpApi } from '../mcp-api.ts';
import { type McpOffer, placeOf, trustLine } from './offers-api.ts';

type Props = {
  api: McpApi;
  offer: McpOffer;
  onAdded: (server: McpServer) => void;
  onDirty: (isDirty: boolean) => void;
  beside: ReactNode;
};

/** Adds an offered server: asks for a name and the person's credentials. */
export function AddOffer({ api, offer, onAdded, onDirty, beside }: Props) {
  const t = useText();
  const isProgram = offer.transport === 'stdio';
  const names = isProgram ? offer.envNames : offer.headerNames;
  const { form, formProps, isBusy, failure } = useApiForm<{ name: string; values: string[] }>({
    initialValues: { name: offer.name, values: names.map(() => '') },
    validate: ({ name }) => ({ name: textFault(name, limits.mcpServerNameMax, t) }),
    fieldOf: (path) => (path === 'name' ? 'name' : undefined),
    submit: async ({ name, values }) => {
      const given = names.flatMap((each, index) => (values[index] ? [[each, values[index]] as const] : []));
      const credentials = Object.fromEntries(given);
      const { server } = await api.add({
        name: name.trim(),
        offerId: offer.id,
        ...(isProgram ? { env: credentials } : { headers: credentials }),
      });
      onAdded(server);
    },
  });
  const isDirty = form.isDirty();
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  return (
    <form {...formProps} className={classes.form}>
      <Notice kind="info" title={placeOf(offer)}>
        {offer.trustedAt === null
          ? t(isProgram ? 'mcp.offeredProgram' : 'mcp.offeredHint')
          : `${trustLine(offer, t)}. ${t('mcp.offeredReady')}`}
      </Notice>
      <TextInput
        {...form.getInputProps('name')}
        label={t('mcp.name')}
        description={t('mcp.nameHint')}
        autoComplete="off"
        data-autofocus
      />
      {names.map((name, index) => (
        <PasswordField
          key={name}
          {...form.getInputProps(`values.${index}`)}
          label={name}
          description={t(isProgram ? 'mcp.offeredVariable' : 'mcp.offeredHeader')}
          maxLength={isProgram ? limits.mcpEnvValueMax : limits.headerValueMax}
          autoComplete="new-password"
          data-1p-ignore
          data-lpignore="true"
        />
      ))}
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        {beside}
        <SubmitButton label={t('mcp.offeredAdd')} busyLabel={t('mcp.connecting')} isBusy={isBusy} />
      </div>
    </form>
  );
}
