import 'virtual:texts/usage';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { Section } from '../layout/section.tsx';
import { spanDays } from './usage-days.ts';
import { allUsageQuery, csvAddress } from './usage-queries.ts';
import { type UsageChoice, UsageChoices, UsageDownload, UsageReportView } from './usage-view.tsx';

/** `/settings/admin/usage` */
export function AllUsagePage() {
  const t = useText();
  const [choice, setChoice] = useState<UsageChoice>({ span: 'month', by: 'day' });
  const query = { ...spanDays(choice.span, new Date()), by: choice.by };
  const { data, error } = useQuery(allUsageQuery(query));
  const groups = ['day', 'model', 'person'] as const;
  return (
    <Section
      title={t('settings.allUsage')}
      text={t('usage.allText')}
      action={<UsageDownload csv={csvAddress('admin', query)} />}
    >
      <UsageChoices choice={choice} groups={groups} onChange={setChoice} />
      {error ? <FormFailure failure={error} /> : null}
      {data ? <UsageReportView report={data.usage} /> : null}
      {data || error ? null : <Loading />}
    </Section>
  );
}
