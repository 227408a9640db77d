import { useQuery } from '@tanstack/react-query';
import { meQuery, personalizationQuery } from '../api/queries.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { Section } from '../layout/section.tsx';
import { PersonalizationForm } from './personalization-form.tsx';

/** `/settings/personalization` */
export function PersonalizationPage() {
  const t = useText();
  const { data: me, error: meError } = useQuery(meQuery);
  const { data, error: ownError } = useQuery(personalizationQuery);
  const error = meError ?? ownError;
  return (
    <Section title={t('settings.personalization')} text={t('personal.text')}>
      {me && data ? (
        <PersonalizationForm key={me.user.id} userName={me.user.name} personalization={data.personalization} />
      ) : error ? (
        <FormFailure failure={error} />
      ) : (
        <Loading />
      )}
    </Section>
  );
}
