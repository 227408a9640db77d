import type { Check } from '@homeport/contracts/checks';
import type { Overview } from '@homeport/contracts/operations';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { costText } from '../../usage/usage-labels.ts';
import { formatTime } from '../format.ts';
import { sizeText } from '../sizes.ts';
import classes from './overview.module.css';

/** The state of the installation as tiles; each leads to the page with more. */
export function OverviewFacts({ overview, checks }: { overview: Overview; checks: readonly Check[] | undefined }) {
  const t = useText();
  const { version, disk, backups, people, usage } = overview;
  const problems = checks?.filter(({ state }) => state !== 'ok').length ?? 0;
  return (
    <ul className={classes.facts} aria-label={t('overview.facts')}>
      <Fact
        to="/settings/admin/users"
        label={t('overview.people')}
        value={t('overview.peopleCount', { count: people.total })}
      >
        <span>{t('overview.peopleActive', { count: people.active })}</span>
        {people.invited > 0 ? <span>{t('overview.peopleInvited', { count: people.invited })}</span> : null}
      </Fact>
      <Fact to="/settings/admin/usage" label={t('overview.cost')} value={costText(usage.cost, t)}>
        <span>{t('usage.tokens', { count: usage.tokens })}</span>
        <span>{t('overview.costBefore', { cost: costText(usage.lastMonthCost, t) })}</span>
      </Fact>
      <Fact
        to="/settings/admin/backups"
        label={t('overview.backup')}
        value={
          backups.isRunning
            ? t('overview.backupRunning')
            : backups.lastDone === null
              ? t('overview.backupNone')
              : formatTime(backups.lastDone.startedAt)
        }
      >
        <span>
          {backups.nextAt === null
            ? t('overview.backupUnscheduled')
            : t('overview.backupNext', { time: formatTime(backups.nextAt) })}
        </span>
      </Fact>
      <Fact
        to="/settings/admin/check"
        label={t('settings.check')}
        value={
          checks === undefined
            ? t('check.running')
            : problems === 0
              ? t('check.allFine')
              : t('overview.checkFound', { count: problems })
        }
      >
        {checks === undefined ? null : <span>{t('overview.checkFine', { count: checks.length - problems })}</span>}
      </Fact>
      {disk === null ? null : (
        <Fact
          to="/settings/admin/check"
          label={t('overview.disk')}
          value={t('overview.diskFree', { free: sizeText(disk.free) })}
        >
          <span>{t('overview.diskTotal', { total: sizeText(disk.total) })}</span>
          <progress className={classes.bar} max={disk.total} value={disk.total - disk.free} aria-hidden />
        </Fact>
      )}
      <li className={classes.fact}>
        <p className={classes.label}>{t('overview.version')}</p>
        <p className={classes.value}>{version}</p>
      </li>
    </ul>
  );
}

function Fact({
  to,
  label,
  value,
  children,
}: {
  to: NonNullable<LinkProps['to']>;
  label: string;
  value: string;
  children?: ReactNode;
}) {
  return (
    <li className={classes.fact}>
      <p className={classes.label}>
        <Link to={to} className={classes.cover}>
          {label}
        </Link>
      </p>
      <p className={classes.value}>{value}</p>
      <p className={classes.more}>{children}</p>
    </li>
  );
}
