import '../../forms/forms.css';
import '../../forms/switch.css';
import type { OidcConfiguration } from '@homeport/contracts/accounts/single-sign-on';
import { limits } from '@homeport/contracts/limits';
import { Button, Switch, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { call } from '../../api/api.ts';
import { configQuery, publicConfigQuery } from '../../api/queries.ts';
import classes from '../../forms/form.module.css';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import { UnsavedGuard } from '../../layout/dialogs/unsaved-guard.tsx';
import { Card } from '../../layout/section.tsx';
import { showToast } from '../../layout/toasts.tsx';
import { OidcChecks } from './oidc-checks.tsx';
import { PeopleFields, ProviderFields } from './single-sign-on-fields.tsx';
import {
  connectionOf,
  type SingleSignOnValues,
  singleSignOnFaults,
  singleSignOnPatch,
  singleSignOnValues,
} from './single-sign-on-values.ts';
import { useOidcTest } from './use-oidc-test.ts';

/**
 * Settings of single sign-on: the identity provider, admitted people, and the switch. Switching it on requires a
 * successful test or an explicit decision to skip it.
 */
export function SingleSignOnForm({ stored }: { stored: OidcConfiguration }) {
  const t = useText();
  const queries = useQueryClient();
  const test = useOidcTest();
  const skipsTest = useRef(false);
  const [initialValues] = useState(() => singleSignOnValues(stored));
  const [isHeld, setHeld] = useState(false);
  const api = useApiForm<SingleSignOnValues>({
    initialValues,
    validate: (values) => singleSignOnFaults(values, t),
    fieldOf: (path) => path.replace(/^oidc\./, '').replace(/^allowedDomains\..*/, 'allowedDomains'),
    submit: async (values) => {
      const isNew = !stored.enabled || connectionOf(values) !== connectionOf(singleSignOnValues(stored));
      const needsTest = values.enabled && isNew && !skipsTest.current;
      setHeld(false);
      if (needsTest && !test.hasPassed(values) && !(await test.run(values))) return setHeld(true);
      skipsTest.current = false;
      const config = await call('POST /api/admin/config', { body: { oidc: singleSignOnPatch(values) } });
      queries.setQueryData(configQuery.queryKey, config);
      form.setValues(singleSignOnValues(config.oidc));
      await queries.fetchQuery({ ...publicConfigQuery, staleTime: 0 });
      showToast(t(config.oidc.enabled ? 'sso.savedOn' : 'sso.savedOff'));
    },
  });
  const { form, formProps, isBusy, failure } = api;
  const { values } = form;
  const isDirty = JSON.stringify(values) !== JSON.stringify(singleSignOnValues(stored));
  const runTest = () => {
    setHeld(false);
    if (api.check(['issuer', 'discoveryUrl', 'clientId', 'clientSecret', 'scopes'])) void test.run(values);
  };
  const enableAnyway = () => {
    skipsTest.current = true;
    void api.submit();
  };
  const isTesting = test.isRunning;
  return (
    <form {...formProps} className={classes.form}>
      <UnsavedGuard isDirty={isDirty} />
      <Card title={t('sso.provider')} text={t('sso.providerText')}>
        <div className={classes.form}>
          <ProviderFields form={form} stored={stored} />
          <OidcChecks state={test.stateFor(values)} />
          <div className={classes.actions}>
            <Button
              variant="default"
              className={classes.spread}
              aria-disabled={isTesting}
              onClick={() => !isTesting && runTest()}
            >
              {t(isTesting ? 'sso.testing' : 'sso.test')}
            </Button>
          </div>
        </div>
      </Card>
      <Card title={t('sso.people')} text={t('sso.peopleText')}>
        <div className={classes.form}>
          <PeopleFields form={form} />
        </div>
      </Card>
      <Card title={t('sso.signIn')}>
        <div className={classes.form}>
          <TextInput
            {...form.getInputProps('label')}
            label={t('sso.label')}
            description={t('sso.labelHint', { label: values.label.trim() || '…' })}
            maxLength={limits.oidcLabelMax}
            autoComplete="off"
          />
          <Switch
            checked={values.enabled}
            onChange={(event) => {
              setHeld(false);
              form.setFieldValue('enabled', event.currentTarget.checked);
            }}
            label={t('sso.enabled')}
            description={t('sso.enabledHint')}
          />
          {isHeld ? (
            <Notice
              kind="failure"
              title={t('sso.heldTitle')}
              action={
                <Button size="compact-sm" variant="default" onClick={enableAnyway}>
                  {t('sso.enableAnyway')}
                </Button>
              }
            >
              {t('sso.heldText')}
            </Notice>
          ) : null}
          <FormFailure failure={failure} />
          <div className={classes.actions}>
            {isDirty ? (
              <Button
                variant="subtle"
                color="gray"
                onClick={() => {
                  setHeld(false);
                  form.clearErrors();
                  form.setValues(singleSignOnValues(stored));
                }}
              >
                {t('admin.undo')}
              </Button>
            ) : null}
            <SubmitButton
              label={t('form.save')}
              busyLabel={t(isTesting ? 'sso.testing' : 'form.saving')}
              isBusy={isBusy}
            />
          </div>
        </div>
      </Card>
    </form>
  );
}
