import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n.ts';
import { Loading } from '../settings/catalogue-view.tsx';
import { Section } from '../settings/section.tsx';
import { configQuery } from './admin-queries.ts';
import { SingleSignOnForm } from './single-sign-on-form.tsx';

/** `/settings/admin/single-sign-on` */
export function SingleSignOnPage() {
  const t = useText();
  const { data, error, refetch } = useQuery(configQuery);
  return (
    <Section title={t('settings.singleSignOn')} text={t('sso.text')}>
      {data ? <SingleSignOnForm stored={data.oidc} /> : null}
      {error && !data ? (
        <>
          <FormFailure failure={error} />
          <Button variant="default" onClick={() => void refetch()}>
            {t('app.retry')}
          </Button>
        </>
      ) : null}
      {data || error ? null : <Loading />}
    </Section>
  );
}
