import 'virtual:texts/overview';
import 'virtual:texts/usage';
import { useQuery } from '@tanstack/react-query';
import { Loading } from '../../catalogue/catalogue-view.tsx';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { Section } from '../../layout/section.tsx';
import { useBackup } from '../backups/use-backup.ts';
import { AttentionCard } from './attention-card.tsx';
import { OverviewFacts } from './overview-facts.tsx';
import { checkQuery, overviewQuery } from './overview-queries.ts';

/** `/settings/admin/overview`: open tasks with their actions, and the state of the installation. */
export function OverviewPage() {
  const t = useText();
  const { data, error } = useQuery(overviewQuery);
  const check = useQuery(checkQuery);
  const { make, isRunning } = useBackup();
  return (
    <Section title={t('settings.overview')} text={t('overview.text')}>
      {error && !data ? <FormFailure failure={error} /> : null}
      {make.error ? <FormFailure failure={make.error} /> : null}
      {data || error ? null : <Loading />}
      {data ? (
        <>
          <AttentionCard
            overview={data.overview}
            checks={check.data?.checks}
            hasFailed={check.isError}
            isMaking={isRunning}
            onBackup={() => make.mutate()}
          />
          <OverviewFacts overview={data.overview} checks={check.data?.checks} />
        </>
      ) : null}
    </Section>
  );
}
