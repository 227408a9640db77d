import 'virtual:texts/agent';
import type { PlanItem } from '@homeport/contracts/chat/agent';
import { ChevronRight, Circle, CircleCheck, CircleDot, CircleSlash } from 'lucide-react';
import { useText } from '../i18n/i18n.ts';
import classes from './agent.module.css';

const icons = { pending: Circle, in_progress: CircleDot, completed: CircleCheck, cancelled: CircleSlash };

/** The model's current plan: one line that unfolds. */
export function PlanList({ items, isOpen = false }: { items: readonly PlanItem[]; isOpen?: boolean }) {
  const t = useText();
  if (items.length === 0) return null;
  const done = items.filter(({ status }) => status === 'completed').length;
  const current = items.find(({ status }) => status === 'in_progress');
  return (
    <details className={classes.plan} open={isOpen} data-plan>
      <summary>
        <ChevronRight size={15} aria-hidden className={classes.chevron} />
        <span className={classes.planTitle}>{t('plan.label')}</span>
        <span className={classes.progress}>{t('plan.progress', { done, count: items.length })}</span>
        {current === undefined ? null : (
          <span className={classes.current} dir="auto">
            {current.content}
          </span>
        )}
      </summary>
      <ol className={classes.items}>
        {items.map(({ content, status }, index) => {
          const Icon = icons[status];
          return (
            <li key={index} className={classes.item} data-status={status}>
              <Icon size={15} aria-hidden />
              <span className="visually-hidden">{t(`plan.${status}`)}:</span>
              <span dir="auto">{content}</span>
            </li>
          );
        })}
      </ol>
    </details>
  );
}
