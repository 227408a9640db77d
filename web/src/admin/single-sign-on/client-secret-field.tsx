import { StoredSecretField } from '../../forms/stored-secret-field.tsx';
import type { ApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import type { SingleSignOnValues } from './single-sign-on-values.ts';

/** The client's secret at the identity provider. */
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
    <StoredSecretField
      input={form.getInputProps('clientSecret')}
      label={t('sso.clientSecret')}
      description={hint ? t(hint) : undefined}
      inputWrapperOrder={['label', 'input', 'error', 'description']}
      isStored={isStored}
      isCleared={clearsSecret}
      onToggle={() => {
        form.setFieldValue('clearsSecret', !clearsSecret);
        form.setFieldValue('clientSecret', '');
      }}
      clearLabel={t('sso.secretClear')}
      keepLabel={t('sso.secretKeep')}
    />
  );
}
