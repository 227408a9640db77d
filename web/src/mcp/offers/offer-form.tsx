import '../../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { Textarea, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { call } from '../../api/api.ts';
import { ChoiceChips } from '../../forms/choice-chips.tsx';
import classes from '../../forms/form.module.css';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { baseUrlFault, textFault } from '../../forms/rules.ts';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import { CommandFields } from '../program-fields.tsx';
import type { CountedMcpOffer } from './offers-api.ts';

type Values = {
  name: string;
  description: string;
  transport: 'http' | 'sse' | 'stdio';
  url: string;
  command: string;
  args: string;
  clientId: string;
  headerNames: string;
  envNames: string;
};

type Props = {
  /** The stored offer; undefined for a new one. */
  offer: CountedMcpOffer | undefined;
  onSaved: () => void;
  onDirty: (isDirty: boolean) => void;
  beside: ReactNode;
};

const plain = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;

/** Offers an MCP server to everybody, or changes the offer. It has no field for a secret. */
export function OfferForm({ offer, onSaved, onDirty, beside }: Props) {
  const t = useText();
  const [initialValues] = useState(
    (): Values => ({
      name: offer?.name ?? '',
      description: offer?.description ?? '',
      transport: offer?.transport ?? 'http',
      url: offer?.url ?? '',
      command: offer?.command ?? '',
      args: (offer?.args ?? []).join('\n'),
      clientId: offer?.clientId ?? '',
      headerNames: (offer?.headerNames ?? []).join('\n'),
      envNames: (offer?.envNames ?? []).join('\n'),
    }),
  );
  const { form, formProps, isBusy, failure } = useApiForm<Values>({
    initialValues,
    validate: ({ name, description, transport, url, command }) => ({
      name: textFault(name, limits.mcpServerNameMax, t),
      description:
        description.length > limits.mcpOfferDescriptionMax
          ? t('form.tooLong', { max: limits.mcpOfferDescriptionMax })
          : null,
      ...(transport === 'stdio'
        ? { command: textFault(command, limits.mcpCommandMax, t) }
        : { url: baseUrlFault(url, t) }),
    }),
    fieldOf: (path) => path.split('.')[0],
    submit: async (values) => {
      const body = {
        name: values.name.trim(),
        description: values.description.trim(),
        transport: values.transport,
        ...(values.transport === 'stdio'
          ? { command: values.command.trim(), args: values.args.split('\n').filter((arg) => arg !== '') }
          : { url: values.url.trim(), clientId: values.clientId.trim() || null }),
        headerNames: values.transport === 'stdio' ? [] : lines(values.headerNames),
        envNames: values.transport === 'stdio' ? lines(values.envNames) : [],
      };
      if (offer === undefined) await call('POST /api/admin/mcp/offers', { body });
      else await call('PATCH /api/admin/mcp/offers', { body: { id: offer.id, ...body } });
      onSaved();
    },
  });
  const isDirty = form.isDirty();
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  const isProgram = form.values.transport === 'stdio';
  const moves = (['transport', 'url', 'command', 'args'] as const).some((field) => form.isDirty(field));
  return (
    <form {...formProps} className={classes.form}>
      <TextInput {...form.getInputProps('name')} label={t('mcp.name')} autoComplete="off" data-autofocus />
      <TextInput
        {...form.getInputProps('description')}
        label={t('offers.description')}
        description={t('offers.descriptionHint')}
        autoComplete="off"
      />
      <ChoiceChips
        legend={t('mcp.transport')}
        options={[
          { value: 'http', label: t('mcp.transportHttp') },
          { value: 'sse', label: t('mcp.transportSse') },
          { value: 'stdio', label: t('mcp.transportStdio') },
        ]}
        value={form.values.transport}
        onChange={(value) => form.setFieldValue('transport', value)}
        hint={t(isProgram ? 'offers.programHint' : 'mcp.transportHint')}
      />
      {isProgram ? (
        <>
          <CommandFields form={form} />
          <Textarea
            {...form.getInputProps('envNames')}
            {...plain}
            label={t('offers.envNames')}
            description={t('offers.namesHint')}
            placeholder="API_KEY"
            autosize
            minRows={1}
            maxRows={6}
          />
        </>
      ) : (
        <>
          <TextInput
            {...form.getInputProps('url')}
            {...plain}
            label={t('mcp.url')}
            type="url"
            inputMode="url"
            placeholder="https://mcp.example.com/mcp"
          />
          <Textarea
            {...form.getInputProps('headerNames')}
            {...plain}
            label={t('offers.headerNames')}
            description={t('offers.namesHint')}
            placeholder="Authorization"
            autosize
            minRows={1}
            maxRows={6}
          />
          <TextInput
            {...form.getInputProps('clientId')}
            {...plain}
            label={t('offers.clientId')}
            description={t('offers.clientIdHint', { address: `${location.origin}/api/mcp/oauth/callback` })}
          />
        </>
      )}
      {offer && offer.servers > 0 && moves ? (
        <Notice kind="warning">{t('offers.moves', { count: offer.servers })}</Notice>
      ) : null}
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        {beside}
        <SubmitButton label={t(offer ? 'form.save' : 'offers.add')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
