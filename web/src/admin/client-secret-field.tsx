import { Button } from '@mantine/core';
import { PasswordField } from '../forms/password-field.tsx';
import type { ApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n.ts';
import type { SingleSignOnValues } from './single-sign-on-values.ts';

/** The secret goes in and never comes out: stored it can be kept, replaced or removed. */
export function ClientSecretField({
  form,
  isStored,
}: {
  form: ApiForm<SingleSignOnValues>['form'];
  isStored: boolean;
}) {
  const t = useText();
  const { clearsSecret } = form.values;
  const hint = clearsSecret ? 'sso.secretCleared' : isStored ? 'sso.secretStored' : undefined;
  return (
    <div>
      <PasswordField
        {...form.getInputProps('clientSecret')}
        label={t('sso.clientSecret')}
        description={hint ? t(hint) : undefined}
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        autoComplete="off"
        disabled={clearsSecret}
        data-1p-ignore
        data-lpignore="true"
      />
      {isStored ? (
        <Button
          size="compact-xs"
          variant="subtle"
          mt={6}
          onClick={() => {
            form.setFieldValue('clearsSecret', !clearsSecret);
            form.setFieldValue('clientSecret', '');
          }}
        >
          {t(clearsSecret ? 'sso.secretKeep' : 'sso.secretClear')}
        </Button>
      ) : null}
    </div>
  );
}
