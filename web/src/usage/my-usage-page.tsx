import 'virtual:texts/usage';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { isPlain } from '../conversation/access.ts';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { Section } from '../layout/section.tsx';
import { useAccess } from '../layout/use-access.ts';
import { OwnBudgets } from './own-budgets.tsx';
import { spanDays } from './usage-days.ts';
import { csvAddress, myUsageQuery } from './usage-queries.ts';
import { type UsageChoice, UsageChoices, UsageDownload, UsageReportView } from './usage-view.tsx';

/** `/settings/usage` */
export function MyUsagePage() {
  const t = useText();
  const [choice, setChoice] = useState<UsageChoice>({ span: 'month', by: 'day' });
  const plain = isPlain(useAccess());
  const query = { ...spanDays(choice.span, new Date()), by: choice.by };
  const { data, error } = useQuery(myUsageQuery(query));
  return (
    <Section
      title={t('settings.usage')}
      text={t('usage.ownText')}
      action={plain ? undefined : <UsageDownload csv={csvAddress('me', query)} />}
    >
      {data ? <OwnBudgets budgets={data.budgets} isPlain={plain} /> : null}
      <UsageChoices choice={choice} groups={['day', 'model']} onChange={setChoice} />
      {error ? <FormFailure failure={error} /> : null}
      {data ? <UsageReportView report={data.usage} isPlain={plain} /> : null}
      {data || error ? null : <Loading />}
    </Section>
  );
}
