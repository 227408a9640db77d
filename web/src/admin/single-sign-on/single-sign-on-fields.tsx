import '../../forms/switch.css';
import '../../forms/forms.css';
import type { OidcConfiguration } from '@homeport/contracts/accounts/single-sign-on';
import { Switch, TextInput } from '@mantine/core';
import { ChoiceChips } from '../../forms/choice-chips.tsx';
import classes from '../../forms/form.module.css';
import { Notice } from '../../forms/notice.tsx';
import type { ApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import adminClasses from '../admin.module.css';
import { CopyField } from '../copy-field.tsx';
import { ClientSecretField } from './client-secret-field.tsx';
import { DomainTags } from './domain-tags.tsx';
import { originOfSecret, type SingleSignOnValues } from './single-sign-on-values.ts';

const tokenAuths = ['auto', 'basic', 'post'] as const;
const prompts = ['none', 'select_account', 'login'] as const;

type Form = ApiForm<SingleSignOnValues>['form'];

/** Fields for the identity provider's address and the client's credentials. */
export function ProviderFields({ form, stored }: { form: Form; stored: OidcConfiguration }) {
  const t = useText();
  const { values } = form;
  const staysWith = originOfSecret(stored, values);
  return (
    <>
      <CopyField
        label={t('sso.callback')}
        description={t('sso.callbackHint')}
        value={`${location.origin}/api/auth/oauth2/callback/${values.providerKey.trim()}`}
      />
      <TextInput
        {...form.getInputProps('issuer')}
        label={t('sso.issuer')}
        description={t('sso.issuerHint')}
        type="url"
        inputMode="url"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="https://id.example.org"
      />
      <div className={classes.pair}>
        <TextInput
          {...form.getInputProps('clientId')}
          label={t('sso.clientId')}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
        />
        <ClientSecretField form={form} isStored={stored.hasClientSecret} />
      </div>
      {stored.credentialsError ? <Notice kind="warning">{t('sso.secretUnreadable')}</Notice> : null}
      {staysWith ? <Notice kind="warning">{t('sso.secretMoved', { origin: staysWith })}</Notice> : null}
      <details className={adminClasses.more}>
        <summary>{t('sso.advanced')}</summary>
        <div className={classes.form}>
          <TextInput
            {...form.getInputProps('discoveryUrl')}
            label={t('sso.discoveryUrl')}
            description={t('sso.discoveryUrlHint')}
            type="url"
            inputMode="url"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
          <TextInput
            {...form.getInputProps('scopes')}
            label={t('sso.scopes')}
            description={t('sso.scopesHint')}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
          <TextInput
            {...form.getInputProps('providerKey')}
            label={t('sso.providerKey')}
            description={t('sso.providerKeyHint')}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
          <ChoiceChips
            legend={t('sso.tokenAuth')}
            options={tokenAuths.map((way) => ({ value: way, label: t(`sso.tokenAuth.${way}`) }))}
            value={values.tokenAuth}
            onChange={(way) => form.setFieldValue('tokenAuth', way)}
            hint={t('sso.tokenAuthHint')}
          />
          <ChoiceChips
            legend={t('sso.prompt')}
            options={prompts.map((prompt) => ({ value: prompt, label: t(`sso.prompt.${prompt}`) }))}
            value={values.prompt}
            onChange={(prompt) => form.setFieldValue('prompt', prompt)}
            hint={t('sso.promptHint')}
          />
          <Switch
            checked={values.endSession}
            onChange={(event) => form.setFieldValue('endSession', event.currentTarget.checked)}
            label={t('sso.endSession')}
            description={t('sso.endSessionHint')}
          />
          {values.endSession ? (
            <CopyField
              label={t('sso.afterSignOut')}
              description={t('sso.afterSignOutHint')}
              value={`${location.origin}/sign-in`}
            />
          ) : null}
        </div>
      </details>
    </>
  );
}

/** Fields for the people who can sign in, with warnings about combinations that admit everyone or no one. */
export function PeopleFields({ form }: { form: Form }) {
  const t = useText();
  const { values } = form;
  return (
    <>
      <Switch
        checked={values.linkByEmail}
        onChange={(event) => form.setFieldValue('linkByEmail', event.currentTarget.checked)}
        label={t('sso.linkByEmail')}
        description={t('sso.linkByEmailHint')}
      />
      <Switch
        checked={values.autoProvision}
        onChange={(event) => form.setFieldValue('autoProvision', event.currentTarget.checked)}
        label={t('sso.autoProvision')}
        description={t('sso.autoProvisionHint')}
      />
      <Switch
        checked={values.trustEmail}
        onChange={(event) => form.setFieldValue('trustEmail', event.currentTarget.checked)}
        label={t('sso.trustEmail')}
        description={t('sso.trustEmailHint')}
      />
      {values.trustEmail ? <Notice kind="warning">{t('sso.trustEmailWarning')}</Notice> : null}
      <Switch
        checked={values.syncProfile}
        onChange={(event) => form.setFieldValue('syncProfile', event.currentTarget.checked)}
        label={t('sso.syncProfile')}
        description={t('sso.syncProfileHint')}
      />
      <DomainTags
        value={values.allowedDomains}
        error={form.errors.allowedDomains}
        onChange={(allowedDomains) => form.setFieldValue('allowedDomains', allowedDomains)}
      />
      {values.autoProvision && values.allowedDomains.length === 0 ? (
        <Notice kind="warning">{t('sso.everybody')}</Notice>
      ) : null}
      {values.enabled && !values.autoProvision && !values.linkByEmail ? (
        <Notice kind="info">{t('sso.nobody')}</Notice>
      ) : null}
    </>
  );
}
