import type { Budget } from '@homeport/contracts/usage';
import { Button } from '@mantine/core';
import { useText } from '../i18n/i18n.ts';
import classes from './usage.module.css';
import { budgetName, resetText, usedText } from './usage-labels.ts';

/** One budget of the installation, with what is used of it. */
export function BudgetRow({ budget, onEdit, onRemove }: { budget: Budget; onEdit: () => void; onRemove: () => void }) {
  const t = useText();
  const { scope, unit, limit, spent, email, stopsAdministrators, resetsAt } = budget;
  const name = budgetName(budget, t);
  return (
    <>
      <div className={classes.row}>
        <div>
          <p className={classes.budgetName}>
            <bdi>{name}</bdi>
          </p>
          {email ? <p className={classes.hint}>{email}</p> : null}
          {scope !== 'person' && stopsAdministrators ? <p className={classes.hint}>{t('budget.stops')}</p> : null}
        </div>
        <div className={classes.rowActions}>
          <Button variant="default" size="compact-sm" onClick={onEdit} aria-label={t('budget.editNamed', { name })}>
            {t('budget.edit')}
          </Button>
          <Button variant="default" size="compact-sm" onClick={onRemove} aria-label={t('budget.removeNamed', { name })}>
            {t('budget.remove')}
          </Button>
        </div>
      </div>
      {spent === null || limit === null ? null : (
        <>
          <progress
            className={classes.progress}
            max={100}
            value={limit === 0 ? 100 : Math.min((spent / limit) * 100, 100)}
            data-state={spent >= limit ? 'over' : spent >= limit * 0.8 ? 'near' : undefined}
            aria-label={name}
            aria-valuetext={usedText(spent, limit, unit, t)}
          />
          <p className={classes.hint}>
            {usedText(spent, limit, unit, t)}. {t('budget.resets', { time: resetText(resetsAt) })}
          </p>
        </>
      )}
    </>
  );
}
