import 'virtual:texts/usage';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { Section } from '../layout/section.tsx';
import { OwnBudgets } from './own-budgets.tsx';
import { spanDays } from './usage-days.ts';
import { csvAddress, myUsageQuery } from './usage-queries.ts';
import { type UsageChoice, UsageChoices, UsageDownload, UsageReportView } from './usage-view.tsx';

/** `/settings/usage` */
export function MyUsagePage() {
  const t = useText();
  const [choice, setChoice] = useState<UsageChoice>({ span: 'month', by: 'day' });
  const query = { ...spanDays(choice.span, new Date()), by: choice.by };
  const { data, error } = useQuery(myUsageQuery(query));
  return (
    <Section
      title={t('settings.usage')}
      text={t('usage.ownText')}
      action={<UsageDownload csv={csvAddress('me', query)} />}
    >
      {data ? <OwnBudgets budgets={data.budgets} /> : null}
      <UsageChoices choice={choice} groups={['day', 'model']} onChange={setChoice} />
      {error ? <FormFailure failure={error} /> : null}
      {data ? <UsageReportView report={data.usage} /> : null}
      {data || error ? null : <Loading />}
    </Section>
  );
}
