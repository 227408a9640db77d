import { useText } from '../i18n/i18n.ts';
import classes from './usage.module.css';
import { everyDay } from './usage-days.ts';
import { dayText } from './usage-labels.ts';

/** Tokens or calls of each day as bars. The table below has the same numbers, so it is one picture for screen readers. */
export function UsageChart({
  span,
  rows,
  counts,
}: {
  span: { from: string; to: string };
  rows: Parameters<typeof everyDay>[1];
  counts: 'tokens' | 'calls';
}) {
  const t = useText();
  const days = everyDay(span, rows, counts);
  const most = Math.max(...days.map(({ amount }) => amount), 1);
  const label = t(counts === 'tokens' ? 'usage.chart' : 'usage.chartCalls');
  return (
    <figure className={classes.chart} aria-label={label}>
      <svg viewBox={`0 0 ${days.length} 100`} preserveAspectRatio="none" className={classes.bars} aria-hidden>
        {days.map(({ day, amount }, index) => {
          const height = amount === 0 ? 0 : Math.max((amount / most) * 100, 2);
          return (
            <g key={day}>
              <title>
                {counts === 'tokens'
                  ? t('usage.bar', { day: dayText(day), tokens: amount })
                  : t('usage.barCalls', { day: dayText(day), count: amount })}
              </title>
              <rect x={index} y={0} width={1} height={100} className={classes.slot} />
              <rect x={index + 0.12} y={100 - height} width={0.76} height={height} className={classes.fill} />
            </g>
          );
        })}
      </svg>
      <figcaption className={classes.axis}>
        <span>{dayText(span.from)}</span>
        <span>{label}</span>
        <span>{dayText(span.to)}</span>
      </figcaption>
    </figure>
  );
}
