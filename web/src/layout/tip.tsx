import type { ReactNode } from 'react';
import classes from './tip.module.css';

/** A small label over a control, on hover and keyboard focus. The control has the same words as its accessible name. */
export function Tip({
  label,
  align = 'center',
  children,
}: {
  label: string;
  align?: 'center' | 'end';
  children: ReactNode;
}) {
  return (
    <span className={classes.box}>
      {children}
      <span className={classes.tip} data-align={align} aria-hidden>
        {label}
      </span>
    </span>
  );
}
