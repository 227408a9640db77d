import 'virtual:texts/overview';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Loading } from '../../catalogue/catalogue-view.tsx';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { Card, Section } from '../../layout/section.tsx';
import { useBackup } from '../backups/use-backup.ts';
import { formatTime } from '../format.ts';
import { CheckRow } from './check-row.tsx';
import classes from './overview.module.css';
import { checkQuery } from './overview-queries.ts';

/** `/settings/admin/check`: every result of the installation check, problems first. */
export function CheckPage() {
  const t = useText();
  const { data, error, isFetching, refetch } = useQuery(checkQuery);
  const { make, isRunning } = useBackup();
  const wrong = data?.checks.filter(({ state }) => state !== 'ok') ?? [];
  const passed = data?.checks.filter(({ state }) => state === 'ok') ?? [];
  const rows = (checks: typeof wrong) => (
    <ul className={classes.findings}>
      {checks.map((check) => (
        <CheckRow
          key={`${check.check} ${check.reason}`}
          check={check}
          isMaking={isRunning}
          onBackup={() => make.mutate()}
        />
      ))}
    </ul>
  );
  return (
    <Section
      title={t('settings.check')}
      text={t('check.text')}
      action={
        <Button variant="default" loading={isFetching} onClick={() => void refetch()}>
          {t('check.run')}
        </Button>
      }
    >
      <p role="status" className={classes.verdict}>
        {isFetching ? t('check.running') : data ? t('check.checkedAt', { time: formatTime(data.checkedAt) }) : ''}
      </p>
      {make.error ? <FormFailure failure={make.error} /> : null}
      {error ? <FormFailure failure={error} /> : null}
      {data || error ? null : <Loading />}
      {data ? (
        <>
          <Card title={wrong.length === 0 ? t('check.allFine') : t('check.found', { count: wrong.length })}>
            {wrong.length === 0
              ? null
              : rows([
                  ...wrong.filter(({ state }) => state === 'failed'),
                  ...wrong.filter(({ state }) => state === 'warning'),
                ])}
          </Card>
          <Card title={t('check.passed')}>{rows(passed)}</Card>
        </>
      ) : null}
    </Section>
  );
}
