import 'virtual:texts/mcp';
import { useText } from '../../i18n/i18n.ts';
import { ShownText } from '../shown-text.tsx';
import classes from './approval.module.css';

/** The tool's input, one line per member, with nothing hidden. */
export function ApprovalInput({ value }: { value: unknown }) {
  const t = useText();
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = isRecord ? Object.entries(value) : [];
  const isNothing = value === undefined || (isRecord && entries.length === 0);
  if (isNothing) return <p className={classes.outcome}>{t('approval.noInput')}</p>;
  return (
    <div className={classes.inputBox}>
      <section className={classes.input} aria-label={t('approval.input')}>
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
    </div>
  );
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
