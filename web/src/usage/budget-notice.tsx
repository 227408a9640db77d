import 'virtual:texts/usage';
import type { OwnBudget } from '@homeport/contracts/usage';
import { Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import classes from './usage.module.css';
import { resetText } from './usage-labels.ts';

/** Above the composer, once most of a budget is used. */
export function BudgetNotice({ budget: { percent, scope, resetsAt } }: { budget: OwnBudget }) {
  const t = useText();
  const time = resetText(resetsAt);
  const name = t(scope === 'own' ? 'budget.nearOwn' : 'budget.nearShared');
  return (
    <div className={classes.notice} role="status">
      <Notice kind="warning">
        {percent >= 100 ? t('budget.over', { time }) : t('budget.near', { percent, name, time })}
      </Notice>
    </div>
  );
}
