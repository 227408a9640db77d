import type { Check } from '@homeport/contracts/checks';
import type { Overview } from '@homeport/contracts/operations';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useClientSession } from '../../conversation/client-session.ts';
import { useText } from '../../i18n/i18n.ts';
import { Card } from '../../layout/section.tsx';
import { usedText } from '../../usage/usage-labels.ts';
import { formatTime } from '../format.ts';
import { type Attention, attentionOf } from './attention.ts';
import { AttentionRow } from './attention-row.tsx';
import { CheckRow } from './check-row.tsx';
import classes from './overview.module.css';

type Backup = { isMaking: boolean; onBackup: () => void };

/** Everything that needs attention, each with its next step. */
export function AttentionCard({
  overview,
  checks,
  hasFailed,
  ...backup
}: {
  overview: Overview;
  checks: readonly Check[] | undefined;
  /** The check itself could not run. */
  hasFailed: boolean;
} & Backup) {
  const t = useText();
  const items = attentionOf(overview, checks);
  const isChecking = checks === undefined && !hasFailed;
  return (
    <Card title={t('overview.attention')}>
      {items.length > 0 ? (
        <ul className={classes.findings} aria-label={t('overview.attention')}>
          {items.map((item) => (
            <AttentionItem key={keyOf(item)} item={item} {...backup} />
          ))}
        </ul>
      ) : null}
      <p role="status" className={classes.verdict}>
        {isChecking
          ? t('overview.checking')
          : hasFailed
            ? t('overview.checkFailed')
            : items.length === 0
              ? t('overview.fine')
              : ''}
      </p>
    </Card>
  );
}

function keyOf(item: Attention): string {
  if (item.kind === 'check') return `check ${item.check.check} ${item.check.reason}`;
  if (item.kind === 'outage') return `outage ${item.outage.providerId}`;
  return item.kind === 'budget' ? `budget ${item.budget.unit} ${item.budget.period}` : item.kind;
}

function AttentionItem({ item, ...backup }: { item: Attention } & Backup) {
  const t = useText();
  switch (item.kind) {
    case 'check':
      return <CheckRow check={item.check} {...backup} />;
    case 'maintenance':
      return <AttentionRow state="warning" text={t('overview.maintained')} advice={t('overview.maintainedText')} />;
    case 'outage':
      return <OutageRow item={item.outage} />;
    case 'budget': {
      const { budget, percent } = item;
      const used = usedText(budget.spent, budget.limit, budget.unit, t);
      return (
        <AttentionRow
          state={percent >= 100 ? 'failed' : 'warning'}
          text={percent >= 100 ? t('overview.budgetOver') : t('overview.budgetNear', { percent })}
          advice={t('overview.budgetText', { used, time: formatTime(budget.resetsAt) })}
          action={
            <Button component={Link} to="/settings/admin/budgets" size="compact-sm" variant="default">
              {t('overview.openBudgets')}
            </Button>
          }
        />
      );
    }
    case 'without-model':
      return (
        <AttentionRow
          state="warning"
          text={t('overview.withoutModel', { count: item.count })}
          advice={t('overview.withoutModelText')}
          action={
            <Button
              size="compact-sm"
              variant="default"
              renderRoot={(props) => <Link to="/settings/admin/users" search={{ show: 'no-model' }} {...props} />}
            >
              {t('overview.showThem')}
            </Button>
          }
        />
      );
  }
}

function OutageRow({ item: { name, owner, outage } }: { item: Overview['outages'][number] }) {
  const t = useText();
  const { user } = useClientSession();
  const isOther = owner !== null && owner.id !== user.id;
  const { reason, since, retryAt } = outage;
  return (
    <AttentionRow
      state="failed"
      text={isOther ? t('overview.outageOf', { name, owner: owner.name }) : t('overview.outage', { name })}
      advice={t('overview.outageText', { reason, since: formatTime(since), retry: formatTime(retryAt) })}
      action={
        isOther ? (
          <Button
            size="compact-sm"
            variant="default"
            renderRoot={(props) => (
              <Link to="/settings/admin/users/$userId/providers" params={{ userId: owner.id }} {...props} />
            )}
          >
            {t('overview.openProvider')}
          </Button>
        ) : (
          <Button component={Link} to="/settings/providers" size="compact-sm" variant="default">
            {t('overview.openProvider')}
          </Button>
        )
      }
    />
  );
}
