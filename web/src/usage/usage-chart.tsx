import { useText } from '../i18n/i18n.ts';
import classes from './usage.module.css';
import { everyDay } from './usage-days.ts';
import { dayText } from './usage-labels.ts';

/** Tokens of each day as bars. The table below has the same numbers, so it is one picture for screen readers. */
export function UsageChart({
  span,
  rows,
}: {
  span: { from: string; to: string };
  rows: Parameters<typeof everyDay>[1];
}) {
  const t = useText();
  const days = everyDay(span, rows);
  const most = Math.max(...days.map(({ tokens }) => tokens), 1);
  return (
    <figure className={classes.chart} aria-label={t('usage.chart')}>
      <svg viewBox={`0 0 ${days.length} 100`} preserveAspectRatio="none" className={classes.bars} aria-hidden>
        {days.map(({ day, tokens }, index) => {
          const height = tokens === 0 ? 0 : Math.max((tokens / most) * 100, 2);
          return (
            <g key={day}>
              <title>{t('usage.bar', { day: dayText(day), tokens })}</title>
              <rect x={index} y={0} width={1} height={100} className={classes.slot} />
              <rect x={index + 0.12} y={100 - height} width={0.76} height={height} className={classes.fill} />
            </g>
          );
        })}
      </svg>
      <figcaption className={classes.axis}>
        <span>{dayText(span.from)}</span>
        <span>{t('usage.chart')}</span>
        <span>{dayText(span.to)}</span>
      </figcaption>
    </figure>
  );
}
