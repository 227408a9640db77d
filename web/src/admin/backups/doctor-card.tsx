import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, CircleX } from 'lucide-react';
import { call } from '../../api/api.ts';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { Card } from '../../layout/section.tsx';
import classes from './backups.module.css';

const icons = { ok: CircleCheck, warning: CircleAlert, failed: CircleX };

/** Pages of the documentation that an advice names lead to them. */
function linked(advice: string) {
  return advice.split(/docs\/([\w-]+)\.md/).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <a key={part} href={`/docs/${part}`} target="_blank" rel="noopener">
        {part}
      </a>
    ),
  );
}

/** Runs the installation checks on request and shows the remedies. */
export function DoctorCard() {
  const t = useText();
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['admin-doctor'],
    queryFn: ({ signal }) => call('GET /api/admin/doctor', { signal }),
    enabled: false,
  });
  const count = data?.checks.filter(({ state }) => state !== 'ok').length ?? 0;
  return (
    <Card
      title={t('doctor.title')}
      text={t('doctor.text')}
      action={
        <Button variant="default" loading={isFetching} onClick={() => void refetch()}>
          {t('doctor.run')}
        </Button>
      }
    >
      <p role="status" className={classes.verdict}>
        {isFetching
          ? t('doctor.running')
          : data
            ? count === 0
              ? t('doctor.allFine')
              : t('doctor.found', { count })
            : ''}
      </p>
      {error ? <FormFailure failure={error} /> : null}
      {data ? (
        <ul className={classes.list}>
          {data.checks.map(({ check, state, message, advice }) => {
            const Icon = icons[state];
            return (
              <li key={`${check} ${message}`} className={classes.check}>
                <Icon
                  size={17}
                  className={classes.icon}
                  data-state={state}
                  aria-label={t(`doctor.${state}`)}
                  role="img"
                />
                <div lang="en">
                  <p className={classes.message}>{message}</p>
                  {advice === undefined ? null : <p className={classes.soft}>{linked(advice)}</p>}
                </div>
              </li>
            );
          })}
        </ul>
      ) : null}
    </Card>
  );
}
