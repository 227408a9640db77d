import type { ReactNode, SyntheticEvent } from 'react';
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
    // biome-ignore lint/a11y/noStaticElementInteractions: pointing only places the label
    <span className={classes.box} onPointerEnter={place} onFocus={place}>
      {children}
      <span className={classes.tip} data-align={align} aria-hidden>
        {label}
      </span>
    </span>
  );
}

/** Pixels between a label and the edge of the window. */
const margin = 8;

/** Moves the label into the window. */
function place({ currentTarget }: SyntheticEvent<HTMLElement>): void {
  const tip = currentTarget.lastElementChild;
  if (!(tip instanceof HTMLElement)) return;
  tip.style.removeProperty('--shift');
  const { left, right } = tip.getBoundingClientRect();
  const end = document.documentElement.clientWidth - margin;
  const shift = left < margin ? margin - left : Math.min(0, end - right);
  if (shift !== 0) tip.style.setProperty('--shift', `${shift}px`);
}
