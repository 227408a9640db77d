import '../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import type { McpServer, McpServerDetail } from '@homeport/contracts/mcp/mcp';
import { Textarea, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { HeaderEditor } from '../catalogue/header-editor.tsx';
import { type HeaderRow, headerFaults, headerRecord, originLeft, providerField } from '../catalogue/provider-values.ts';
import { StoredHeadersNotice } from '../catalogue/stored-headers-notice.tsx';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import classes from '../forms/form.module.css';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { PasswordField } from '../forms/password-field.tsx';
import { baseUrlFault, textFault } from '../forms/rules.ts';
import { SubmitButton } from '../forms/submit-button.tsx';
import { type ApiForm, useApiForm } from '../forms/use-api-form.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import mcpClasses from './mcp.module.css';
import type { McpApi } from './mcp-api.ts';
import { type PastedServer, parseEnvLines, parseMcpConfig } from './mcp-config.ts';
import { ProgramFields } from './program-fields.tsx';

type Values = {
  name: string;
  url: string;
  transport: 'http' | 'sse' | 'stdio';
  command: string;
  args: string;
  env: string;
  headers: HeaderRow[];
  clientId: string;
  clientSecret: string;
};

type Props = {
  api: McpApi;
  /** The stored server; undefined for a new one. */
  server: McpServer | undefined;
  /** Its environment variables, if it is a program. */
  storedEnv?: McpServerDetail['env'];
  /** Its headers; undefined for a new server or if they cannot be read. */
  stored: McpServerDetail['headers'] | undefined;
  onSaved: (server: McpServer) => void;
  onDirty: (isDirty: boolean) => void;
  beside: ReactNode;
};

/** Adds or changes an MCP server. Stored headers are sent again only if they were edited. */
export function ServerForm({ api, server, stored, storedEnv = {}, onSaved, onDirty, beside }: Props) {
  const t = useText();
  // Administrators define the address of an offered server.
  const isOffered = server !== undefined && server.offerId !== null;
  const [initialValues] = useState(
    (): Values => ({
      name: server?.name ?? '',
      url: server?.url ?? '',
      transport: server?.transport ?? 'http',
      command: server?.command ?? '',
      args: (server?.args ?? []).join('\n'),
      env: Object.entries(storedEnv)
        .map(([variable, value]) => `${variable}=${value}`)
        .join('\n'),
      clientId: server?.clientId ?? '',
      clientSecret: '',
      headers: Object.entries(stored ?? {}).map(([name, value], index) => ({ key: `stored-${index}`, name, value })),
    }),
  );
  const { form, formProps, isBusy, failure } = useApiForm<Values>({
    initialValues,
    validate: ({ name, url, transport, command, env, headers }) => ({
      name: textFault(name, limits.mcpServerNameMax, t),
      ...(transport === 'stdio'
        ? { command: textFault(command, limits.mcpCommandMax, t), env: envFault(env, t) }
        : { url: baseUrlFault(url, t), ...headerFaults(headers, t) }),
    }),
    fieldOf: providerField,
    submit: async ({ name, url, transport, command, args, env, headers, clientId, clientSecret }) => {
      const program = {
        command: command.trim(),
        args: args.split('\n').filter((arg) => arg !== ''),
        ...(form.isDirty('env') ? { env: parseEnvLines(env).env } : {}),
      };
      const place = { transport, ...(transport === 'stdio' ? program : { url: url.trim() }) };
      const body = {
        name: name.trim(),
        ...(isOffered ? (form.isDirty('env') ? { env: parseEnvLines(env).env } : {}) : place),
        ...(form.isDirty('headers') && transport !== 'stdio' ? { headers: headerRecord(headers) } : {}),
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
    server?.trustedFingerprint != null &&
    (['url', 'transport', 'headers', 'command', 'args', 'env'] as const).some((field) => form.isDirty(field));
  const isProgram = form.values.transport === 'stdio';
  const left = originLeft(server && { ...server, address: server.url }, form.values.url);
  const fill = (pasted: PastedServer | undefined) => {
    if (pasted === undefined) return;
    form.setValues({
      name: pasted.name === '' ? form.values.name : pasted.name.slice(0, limits.mcpServerNameMax),
      transport: pasted.transport,
      url: pasted.url,
      headers: pasted.headers.map(([name, value], index) => ({ key: `pasted-${index}`, name, value })),
      command: pasted.command,
      args: pasted.args.join('\n'),
      env: pasted.env.map(([variable, value]) => `${variable}=${value}`).join('\n'),
    });
  };
  return (
    <form {...formProps} className={classes.form}>
      {server ? null : (
        <Textarea
          label={t('mcp.paste')}
          description={t('mcp.pasteHint')}
          placeholder={'{"mcpServers": {…}}'}
          autoComplete="off"
          spellCheck={false}
          autosize
          minRows={1}
          maxRows={6}
          onChange={(event) => fill(parseMcpConfig(event.currentTarget.value))}
        />
      )}
      <TextInput
        {...form.getInputProps('name')}
        label={t('mcp.name')}
        description={t('mcp.nameHint')}
        autoComplete="off"
        data-autofocus
      />
      {isOffered ? null : (
        <ChoiceChips
          legend={t('mcp.transport')}
          options={[
            { value: 'http', label: t('mcp.transportHttp') },
            { value: 'sse', label: t('mcp.transportSse') },
            { value: 'stdio', label: t('mcp.transportStdio') },
          ]}
          value={form.values.transport}
          onChange={(value) => form.setFieldValue('transport', value)}
          hint={t(isProgram ? 'mcp.transportStdioHint' : 'mcp.transportHint')}
        />
      )}
      {isProgram ? <ProgramFields form={form} isOffered={isOffered} /> : null}
      {isProgram || isOffered ? null : (
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
      )}
      {server?.hasHeaders && stored === undefined ? (
        <Notice kind="warning" title={t('mcp.unreadableTitle')}>
          {t('mcp.unreadableText')}
        </Notice>
      ) : null}
      {isProgram ? null : <HeaderEditor form={form} hint={t('mcp.headersHint')} />}
      {left && server?.hasHeaders && !form.isDirty('headers') ? (
        <StoredHeadersNotice form={form} origin={left} />
      ) : null}
      {isProgram || isOffered ? null : <ClientFields form={form} server={server} secretOrigin={left} />}
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

type ClientProps = {
  form: ApiForm<Values>['form'];
  server: McpServer | undefined;
  /** Origin of the stored client secret, if the entered URL has another one. */
  secretOrigin: string | undefined;
};

/** Fields for an OAuth client that was registered by hand. */
function ClientFields({ form, server, secretOrigin }: ClientProps) {
  const t = useText();
  return (
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
          description={server?.hasClientSecret ? clientSecretHint(secretOrigin, t) : undefined}
          autoComplete="new-password"
          data-1p-ignore
          data-lpignore="true"
        />
      </div>
    </details>
  );
}

/** Hint for an empty secret field; `left` is the origin of the stored secret, if it is another one. */
function clientSecretHint(left: string | undefined, t: Translate): string {
  return left === undefined ? t('mcp.clientSecretStays') : t('mcp.clientSecretMoved', { origin: left });
}

function envFault(text: string, t: Translate): string | undefined {
  const { fault } = parseEnvLines(text);
  return fault === undefined ? undefined : t('mcp.envFault', { line: fault });
}
