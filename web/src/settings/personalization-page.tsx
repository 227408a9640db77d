import { useQuery } from '@tanstack/react-query';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { FormFailure } from '../forms/notice.tsx';
import { Section } from '../frame/section.tsx';
import { useText } from '../i18n.ts';
import { meQuery } from '../queries.ts';
import { PersonalizationForm } from './personalization-form.tsx';

/** `/settings/personalization` */
export function PersonalizationPage() {
  const t = useText();
  const { data, error } = useQuery(meQuery);
  return (
    <Section title={t('settings.personalization')} text={t('personal.text')}>
      {data ? <PersonalizationForm key={data.user.id} user={data.user} /> : null}
      {error && !data ? <FormFailure failure={error} /> : null}
      {data || error ? null : <Loading />}
    </Section>
  );
}
