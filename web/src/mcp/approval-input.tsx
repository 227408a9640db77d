import './mcp-texts.ts';
import { useEffect, useRef, useState } from 'react';
import { useText } from '../i18n.ts';
import classes from './approval.module.css';
import { ShownText } from './shown-text.tsx';

/** The tool's input, one line per member, with nothing hidden: overflow fades out above a button. */
export function ApprovalInput({ value }: { value: unknown }) {
  const t = useText();
  const box = useRef<HTMLElement>(null);
  const [isLong, setLong] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = isRecord ? Object.entries(value) : [];
  const isNothing = value === undefined || (isRecord && entries.length === 0);
  useEffect(() => {
    const element = box.current;
    if (!element || isWhole) return;
    const measure = () => setLong(element.scrollHeight > element.clientHeight + 1);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [isWhole]);
  if (isNothing) return <p className={classes.outcome}>{t('approval.noInput')}</p>;
  return (
    <div className={classes.inputBox} data-cut={(isLong && !isWhole) || undefined} data-whole={isWhole || undefined}>
      <section ref={box} className={classes.input} aria-label={t('approval.input')}>
        {isRecord ? (
          <dl className={classes.members}>
            {entries.map(([name, each]) => (
              <div key={name} className={classes.member}>
                <dt className={classes.name}>
                  <ShownText text={name} />
                </dt>
                <dd className={typeof each === 'string' ? classes.prose : classes.code}>
                  <ShownText text={asText(each)} />
                </dd>
              </div>
            ))}
          </dl>
        ) : (
          <div className={classes.code}>
            <ShownText text={asText(value)} />
          </div>
        )}
      </section>
      {isLong && !isWhole ? (
        <button type="button" className={classes.whole} onClick={() => setWhole(true)}>
          {t('approval.showAll')}
        </button>
      ) : null}
    </div>
  );
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
