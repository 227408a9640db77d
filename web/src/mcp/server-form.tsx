import '../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import type { McpServer, McpServerDetail } from '@homeport/contracts/mcp';
import { TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { HeaderEditor } from '../catalogue/header-editor.tsx';
import { HeadersStay } from '../catalogue/headers-stay.tsx';
import { type HeaderRow, headerFaults, headerRecord, originLeft, providerField } from '../catalogue/provider-values.ts';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import classes from '../forms/form.module.css';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { PasswordField } from '../forms/password-field.tsx';
import { baseUrlFault, textFault } from '../forms/rules.ts';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n.ts';
import mcpClasses from './mcp.module.css';
import type { McpApi } from './mcp-api.ts';

type Values = {
  name: string;
  url: string;
  transport: 'http' | 'sse';
  headers: HeaderRow[];
  clientId: string;
  clientSecret: string;
};

type Props = {
  api: McpApi;
  /** The stored server; undefined for a new one. */
  server: McpServer | undefined;
  /** Its headers; undefined for a new server or if they cannot be read. */
  stored: McpServerDetail['headers'] | undefined;
  onSaved: (server: McpServer) => void;
  onDirty: (isDirty: boolean) => void;
  beside: ReactNode;
};

/** Adds or changes an MCP server. Stored headers are sent again only if they were edited. */
export function ServerForm({ api, server, stored, onSaved, onDirty, beside }: Props) {
  const t = useText();
  const [initialValues] = useState(
    (): Values => ({
      name: server?.name ?? '',
      url: server?.url ?? '',
      transport: server?.transport ?? 'http',
      clientId: server?.clientId ?? '',
      clientSecret: '',
      headers: Object.entries(stored ?? {}).map(([name, value], index) => ({ key: `stored-${index}`, name, value })),
    }),
  );
  const { form, formProps, isBusy, failure } = useApiForm<Values>({
    initialValues,
    validate: ({ name, url, headers }) => ({
      name: textFault(name, limits.mcpServerNameMax, t),
      url: baseUrlFault(url, t),
      ...headerFaults(headers, t),
    }),
    fieldOf: providerField,
    submit: async ({ name, url, transport, headers, clientId, clientSecret }) => {
      const body = {
        name: name.trim(),
        url: url.trim(),
        transport,
        ...(form.isDirty('headers') ? { headers: headerRecord(headers) } : {}),
        ...(form.isDirty('clientId') ? { clientId: clientId.trim() || null } : {}),
        ...(clientSecret === '' ? {} : { clientSecret }),
        ...(server?.hasClientSecret && clientId.trim() === '' ? { clientSecret: null } : {}),
      };
      const answer = server ? await api.change({ id: server.id, ...body }) : await api.add(body);
      onSaved(answer.server);
    },
  });
  const isDirty = form.isDirty();
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  const losesTrust =
    server?.trustedFingerprint != null && (form.isDirty('url') || form.isDirty('transport') || form.isDirty('headers'));
  const left = originLeft(server && { ...server, address: server.url }, form.values.url);
  return (
    <form {...formProps} className={classes.form}>
      <TextInput
        {...form.getInputProps('name')}
        label={t('mcp.name')}
        description={t('mcp.nameHint')}
        autoComplete="off"
        data-autofocus
      />
      <TextInput
        {...form.getInputProps('url')}
        label={t('mcp.url')}
        type="url"
        inputMode="url"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="https://mcp.example.com/mcp"
      />
      <ChoiceChips
        legend={t('mcp.transport')}
        options={[
          { value: 'http', label: t('mcp.transportHttp') },
          { value: 'sse', label: t('mcp.transportSse') },
        ]}
        value={form.values.transport}
        onChange={(value) => form.setFieldValue('transport', value)}
        hint={t('mcp.transportHint')}
      />
      {server?.hasHeaders && stored === undefined ? (
        <Notice kind="warning" title={t('mcp.unreadableTitle')}>
          {t('mcp.unreadableText')}
        </Notice>
      ) : null}
      <HeaderEditor form={form} hint={t('mcp.headersHint')} />
      {left && server?.hasHeaders && !form.isDirty('headers') ? <HeadersStay form={form} origin={left} /> : null}
      <details className={mcpClasses.more} open={server?.connection !== 'none' && server?.clientId != null}>
        <summary>{t('mcp.clientTitle')}</summary>
        <div className={classes.form}>
          <p className={mcpClasses.hint}>
            {t('mcp.clientText', { address: `${location.origin}/api/mcp/oauth/callback` })}
          </p>
          <TextInput
            {...form.getInputProps('clientId')}
            label={t('mcp.clientId')}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
          <PasswordField
            {...form.getInputProps('clientSecret')}
            label={t('mcp.clientSecret')}
            description={server?.hasClientSecret ? t('mcp.clientSecretStays') : undefined}
            autoComplete="off"
            data-1p-ignore
            data-lpignore="true"
          />
        </div>
      </details>
      {losesTrust ? <Notice kind="warning">{t('mcp.losesTrust')}</Notice> : null}
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        {beside}
        <SubmitButton
          label={t(server ? 'form.save' : 'mcp.add')}
          busyLabel={t(server ? 'form.saving' : 'mcp.connecting')}
          isBusy={isBusy}
        />
      </div>
    </form>
  );
}
