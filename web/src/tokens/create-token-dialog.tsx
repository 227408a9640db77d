import '../forms/switch.css';
// For the field with a button that copies.
import 'virtual:texts/admin';
import 'virtual:texts/tokens';
import '../forms/forms.css';
import { adminScopes, type TokenScope, tokenScopes } from '@homeport/contracts/accounts/token-scopes';
import { limits } from '@homeport/contracts/limits';
import { Button, Switch, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { CopyField } from '../admin/copy-field.tsx';
import { call } from '../api/api.ts';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import classes from '../forms/form.module.css';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import { endAfter, lifeChoices } from './token-life.ts';
import tokenClasses from './tokens.module.css';

type Props = { maxDays: number | null; isAdmin: boolean; onClose: () => void };

/** Creates a token, then shows its secret, which the server returns only once. */
export function CreateTokenDialog({ onClose, ...rules }: Props) {
  const t = useText();
  const [secret, setSecret] = useState<string>();
  return (
    <FormDialog
      key={secret === undefined ? 'form' : 'secret'}
      title={t(secret === undefined ? 'tokens.addTitle' : 'tokens.addedTitle')}
      isFirm={secret !== undefined}
      onClose={onClose}
    >
      {({ onDirty, cancel }) =>
        secret === undefined ? (
          <TokenForm {...rules} onCreated={setSecret} onDirty={onDirty} beside={cancel} />
        ) : (
          <div className={classes.form}>
            <Notice kind="warning">{t('tokens.once')}</Notice>
            <CopyField label={t('tokens.secret')} description={t('tokens.secretHint')} value={secret} isFocused />
            <div className={classes.actions}>
              <Button onClick={onClose}>{t('tokens.done')}</Button>
            </div>
          </div>
        )
      }
    </FormDialog>
  );
}

type Values = { name: string; scopes: TokenScope[]; life: string };

function TokenForm({
  maxDays,
  isAdmin,
  onCreated,
  onDirty,
  beside,
}: Omit<Props, 'onClose'> & {
  onCreated: (secret: string) => void;
  onDirty: (isDirty: boolean) => void;
  beside: ReactNode;
}) {
  const t = useText();
  const lives = lifeChoices(maxDays);
  const [initialValues] = useState<Values>(() => ({
    name: '',
    scopes: ['models'],
    life: lives.includes('90') ? '90' : (lives.at(-1) ?? '90'),
  }));
  const { form, formProps, isBusy, failure } = useApiForm<Values>({
    initialValues,
    validate: ({ name, scopes }) => ({
      name: name.trim() === '' ? t('form.required') : null,
      scopes: scopes.length === 0 ? t('tokens.noScope') : null,
    }),
    submit: async ({ name, scopes, life }) => {
      const body = { name: name.trim(), scopes, expiresAt: endAfter(life, Date.now()) };
      const { secret } = await call('POST /api/me/tokens', { body });
      onDirty(false);
      onCreated(secret);
    },
  });
  const isDirty = form.isDirty();
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  const { scopes, life } = form.values;
  const choose = (scope: TokenScope, isOn: boolean) =>
    form.setFieldValue('scopes', isOn ? [...scopes, scope] : scopes.filter((each) => each !== scope));
  return (
    <form {...formProps} className={classes.form}>
      <TextInput
        {...form.getInputProps('name')}
        label={t('tokens.name')}
        description={t('tokens.nameHint')}
        maxLength={limits.tokenNameMax}
        autoComplete="off"
        data-autofocus
      />
      <fieldset className={tokenClasses.scopes}>
        <legend className={tokenClasses.legend}>{t('tokens.scopes')}</legend>
        {tokenScopes
          .filter((scope) => isAdmin || !adminScopes.includes(scope))
          .map((scope) => (
            <Switch
              key={scope}
              checked={scopes.includes(scope)}
              onChange={(event) => choose(scope, event.currentTarget.checked)}
              label={scope}
              description={t(`tokens.scope.${scope}`)}
            />
          ))}
        {form.errors.scopes ? (
          <p role="alert" className={tokenClasses.fault}>
            {form.errors.scopes}
          </p>
        ) : null}
      </fieldset>
      <ChoiceChips
        legend={t('tokens.life')}
        options={lives.map((value) => ({
          value,
          label: value === 'none' ? t('tokens.lifeNone') : t('tokens.lifeDays', { days: Number(value) }),
        }))}
        value={life}
        onChange={(value) => form.setFieldValue('life', value)}
        hint={maxDays === null ? undefined : t('tokens.lifeMax', { days: maxDays })}
      />
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        {beside}
        <SubmitButton label={t('tokens.create')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
