import { ChevronRight } from 'lucide-react';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import classes from './disclosure.module.css';

/** A part of a form that opens on demand, and by itself when `opens` becomes true. */
export function Disclosure({
  label,
  count = 0,
  opens = count > 0,
  children,
}: {
  label: string;
  /** How many values are set in it. */
  count?: number;
  opens?: boolean;
  children: ReactNode;
}) {
  const element = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (opens && element.current) element.current.open = true;
  }, [opens]);
  return (
    <details className={classes.fold} ref={element}>
      <summary className={classes.summary}>
        <ChevronRight size={15} aria-hidden />
        {label}
        {count > 0 ? <span className={classes.count}>{count}</span> : null}
      </summary>
      {children}
    </details>
  );
}
