import type { UsageReport } from '@homeport/contracts/usage';
import { Button } from '@mantine/core';
import { Download } from 'lucide-react';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import { Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { EmptyState } from '../layout/section.tsx';
import classes from './usage.module.css';
import { UsageChart } from './usage-chart.tsx';
import type { Span } from './usage-days.ts';
import { UsageTable } from './usage-table.tsx';

export type UsageChoice = { span: Span; by: UsageReport['by'] };
const spans = ['month', 'last', 'year'] as const;

/** Link that downloads the report at `csv`, the same as CSV. */
export function UsageDownload({ csv }: { csv: string }) {
  const t = useText();
  return (
    <Button component="a" href={csv} download variant="default" leftSection={<Download size={15} aria-hidden />}>
      {t('usage.csv')}
    </Button>
  );
}

/** Grouping and period of a report. */
export function UsageChoices({
  choice,
  groups,
  onChange,
}: {
  choice: UsageChoice;
  groups: readonly UsageReport['by'][];
  onChange: (choice: UsageChoice) => void;
}) {
  const t = useText();
  return (
    <div className={classes.choices}>
      <ChoiceChips
        legend={t('usage.span')}
        options={spans.map((value) => ({ value, label: t(`usage.span.${value}`) }))}
        value={choice.span}
        onChange={(span) => onChange({ ...choice, span })}
      />
      <ChoiceChips
        legend={t('usage.by')}
        options={groups.map((value) => ({ value, label: t(`usage.by.${value}`) }))}
        value={choice.by}
        onChange={(by) => onChange({ ...choice, by })}
      />
    </div>
  );
}

/** `isPlain`: for people who manage no models, without their technical numbers. */
export function UsageReportView({ report, isPlain = false }: { report: UsageReport; isPlain?: boolean }) {
  const t = useText();
  const { total } = report;
  if (total.calls === 0) return <EmptyState title={t('usage.emptyTitle')} text={t('usage.emptyText')} />;
  return (
    <>
      {report.by === 'day' ? (
        <UsageChart span={report} rows={report.rows} counts={isPlain ? 'calls' : 'tokens'} />
      ) : null}
      <UsageTable report={report} isPlain={isPlain} />
      {report.isCut ? <p className={classes.hint}>{t(isPlain ? 'usage.cutPlain' : 'usage.cut')}</p> : null}
      {total.unpricedCalls > 0 ? (
        <Notice kind="info">
          {t(isPlain ? 'usage.unpricedPlain' : 'usage.unpriced', { count: total.unpricedCalls })}
        </Notice>
      ) : null}
      {total.estimatedPriceCalls > 0 ? (
        <Notice kind="info">{t('usage.estimated', { count: total.estimatedPriceCalls })}</Notice>
      ) : null}
    </>
  );
}
