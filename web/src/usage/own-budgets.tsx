import type { OwnBudget } from '@homeport/contracts/usage';
import { useText } from '../i18n/i18n.ts';
import { Card } from '../layout/section.tsx';
import classes from './usage.module.css';
import { resetText, usedText } from './usage-labels.ts';

/** Budgets that apply to a person, each with its used share. */
export function OwnBudgets({ budgets, isPlain }: { budgets: readonly OwnBudget[]; isPlain: boolean }) {
  const t = useText();
  if (budgets.length === 0) return null;
  return (
    <Card title={t('budget.title')}>
      <ul className={classes.budgets}>
        {budgets.map((budget) => (
          <li key={`${budget.scope} ${budget.unit} ${budget.period}`}>
            <OneBudget budget={budget} isPlain={isPlain} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function OneBudget({ budget, isPlain }: { budget: OwnBudget; isPlain: boolean }) {
  const t = useText();
  const { scope, unit, period, limit, spent, percent, resetsAt } = budget;
  const name = t(scope === 'own' ? 'budget.own' : 'budget.shared');
  const hasNumbers = unit === 'cost' || !isPlain;
  const used =
    limit === null || spent === null || !hasNumbers
      ? t('budget.percent', { percent })
      : usedText(spent, limit, unit, t);
  return (
    <>
      <p className={classes.budgetName}>
        {name} · {t(`budget.period.${period}`)}
      </p>
      <progress
        className={classes.progress}
        max={100}
        value={Math.min(percent, 100)}
        data-state={percent >= 100 ? 'over' : percent >= 80 ? 'near' : undefined}
        aria-label={name}
        aria-valuetext={used}
      />
      <p className={classes.hint}>
        {used}. {t('budget.resets', { time: resetText(resetsAt) })}
      </p>
    </>
  );
}
