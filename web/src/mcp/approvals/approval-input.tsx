import 'virtual:texts/mcp';
import { dateLocale } from '../../i18n/format-locale.ts';
import { useText } from '../../i18n/i18n.ts';
import { ShownText } from '../shown-text.tsx';
import classes from './approval.module.css';
import { type Readable, readableValue } from './readable-value.ts';

/** The tool's input, one line per member, with nothing hidden. */
export function ApprovalInput({ value }: { value: unknown }) {
  const t = useText();
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (value === undefined || (isRecord && Object.keys(value).length === 0))
    return <p className={classes.outcome}>{t('approval.noInput')}</p>;
  return (
    <div className={classes.inputBox}>
      <section className={classes.input} aria-label={t('approval.input')}>
        <Value value={readableValue(value, dateLocale())} />
      </section>
    </div>
  );
}

function Value({ value }: { value: Readable }) {
  switch (value.kind) {
    case 'members':
      return (
        <dl className={classes.members}>
          {value.members.map(([name, each]) => (
            <div key={name} className={classes.member}>
              <dt className={classes.name}>
                <ShownText text={name} />
              </dt>
              <dd className={classes.value}>
                <Value value={each} />
              </dd>
            </div>
          ))}
        </dl>
      );
    case 'list':
      return (
        <ul className={classes.items}>
          {value.items.map((item, index) => (
            <li key={index}>
              <Value value={item} />
            </li>
          ))}
        </ul>
      );
    case 'time':
      return (
        <div className={classes.prose}>
          {value.text} <span className={classes.raw}>({value.raw})</span>
        </div>
      );
    default:
      return (
        <div className={value.kind === 'text' ? classes.prose : classes.code}>
          <ShownText text={value.text} />
        </div>
      );
  }
}
