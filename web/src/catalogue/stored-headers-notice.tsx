import { Button } from '@mantine/core';
import { Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { type HeaderRow, withRenewedKeys } from './provider-values.ts';

type HeaderForm = {
  values: { headers: HeaderRow[] };
  setFieldValue(path: 'headers', rows: HeaderRow[]): void;
};

/** Explains that stored headers stay with `origin`, and fills them in for the new address on request. */
export function StoredHeadersNotice({ form, origin }: { form: HeaderForm; origin: string }) {
  const t = useText();
  const { headers } = form.values;
  const action =
    headers.length === 0 ? undefined : (
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => form.setFieldValue('headers', withRenewedKeys(headers))}
      >
        {t('provider.headersReuse')}
      </Button>
    );
  return (
    <Notice kind="warning" action={action}>
      {t('provider.headersStay', { origin })}
    </Notice>
  );
}
