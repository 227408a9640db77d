import { useEffect, useRef, useState } from 'react';
import { runCooperatively } from '../cooperative-queue.ts';
import classes from '../markdown.module.css';

type Props = { formula: string; source: string; isDisplay: boolean };

/** A formula; its source until the typesetter is loaded, or if it cannot be typeset. */
export function MathView({ formula, source, isDisplay }: Props) {
  const host = useRef<HTMLElement>(null);
  const [state, setState] = useState<'source' | 'set' | 'failed'>('source');
  const isSet = state === 'set';
  useEffect(() => {
    let isWanted = true;
    let callOff: () => void = () => {};
    import('./katex.ts').then(
      ({ typeset }) => {
        const set = () => {
          if (host.current) setState(typeset(formula, host.current, isDisplay) ? 'set' : 'failed');
        };
        if (isWanted) callOff = runCooperatively(set);
      },
      () => isWanted && setState('failed'),
    );
    return () => {
      isWanted = false;
      callOff();
    };
  }, [formula, isDisplay]);
  return (
    <span className={isDisplay ? classes.formulaBlock : undefined} data-formula={state}>
      {isSet ? null : <code>{source.trim()}</code>}
      <span ref={host} dir="ltr" hidden={!isSet} />
    </span>
  );
}
