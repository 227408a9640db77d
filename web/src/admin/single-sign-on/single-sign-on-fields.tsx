import type { OidcConfiguration } from '@homeport/contracts/admin';
import { Switch, TextInput } from '@mantine/core';
import classes from '../../forms/form.module.css';
import { Notice } from '../../forms/notice.tsx';
import type { ApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import adminClasses from '../admin.module.css';
import { CopyField } from '../copy-field.tsx';
import { ClientSecretField } from './client-secret-field.tsx';
import { DomainTags } from './domain-tags.tsx';
import { originOfSecret, type SingleSignOnValues } from './single-sign-on-values.ts';

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
