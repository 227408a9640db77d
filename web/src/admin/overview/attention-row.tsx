import { CircleAlert, CircleCheck, CircleX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/i18n.ts';
import classes from './overview.module.css';

const icons = { ok: CircleCheck, warning: CircleAlert, failed: CircleX };

/** One finding: its state as an icon, the sentence, the advice, and the next step. */
export function AttentionRow({
  state,
  text,
  advice,
  action,
}: {
  state: keyof typeof icons;
  text: ReactNode;
  advice?: ReactNode;
  action?: ReactNode;
}) {
  const t = useText();
  const Icon = icons[state];
  return (
    <li className={classes.finding}>
      <Icon size={18} className={classes.icon} data-state={state} aria-label={t(`check.${state}`)} role="img" />
      <div className={classes.words}>
        <p className={classes.sentence}>{text}</p>
        {advice === undefined ? null : <p className={classes.advice}>{advice}</p>}
      </div>
      {action}
    </li>
  );
}
