import type { UsageReport, UsageRow } from '@homeport/contracts/usage';
import { type Translate, useText } from '../i18n/i18n.ts';
import classes from './usage.module.css';
import { costText, countText, dayText } from './usage-labels.ts';

/** The sums of a report, with its total at the end. */
export function UsageTable({ report, isPlain }: { report: UsageReport; isPlain: boolean }) {
  const t = useText();
  const { rows, total, by } = report;
  const shown = by === 'day' ? rows.toReversed() : rows;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls on narrow screens, and the keyboard must reach it.
    <section className={classes.scroll} tabIndex={0} aria-label={t(`usage.by.${by}`)}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t(`usage.by.${by}`)}</th>
            <th scope="col">{t('usage.cost')}</th>
            <th scope="col" className={isPlain ? undefined : classes.wide}>
              {t('usage.calls')}
            </th>
            {isPlain ? null : (
              <>
                <th scope="col">{t('usage.input')}</th>
                <th scope="col" className={classes.wide}>
                  {t('usage.cached')}
                </th>
                <th scope="col">{t('usage.output')}</th>
                <th scope="col" className={classes.wide}>
                  {t('usage.reasoning')}
                </th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.day ?? row.userId ?? `${row.providerName} ${row.providerModelId}`}>
              <th scope="row">
                <Name row={row} isPlain={isPlain} />
              </th>
              <Numbers row={row} isPlain={isPlain} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{t('usage.total')}</th>
            <Numbers row={total} isPlain={isPlain} />
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

function Name({ row, isPlain }: { row: UsageRow; isPlain: boolean }) {
  const t = useText();
  const [name, detail] = namesOf(row, t);
  return (
    <>
      <bdi className={row.day === undefined ? undefined : classes.day}>{name}</bdi>
      {detail && !isPlain ? <bdi className={classes.detail}>{detail}</bdi> : null}
    </>
  );
}

function namesOf(row: UsageRow, t: Translate): [string, string?] {
  if (row.day !== undefined) return [dayText(row.day)];
  if (row.userId !== undefined) return [row.name ?? t('usage.deleted'), row.email ?? row.userId];
  return [row.providerModelId || t('usage.unnamed'), row.providerName];
}

function Numbers({ row, isPlain }: { row: Omit<UsageRow, 'day'>; isPlain: boolean }) {
  const t = useText();
  return (
    <>
      <td>{costText(row.cost, t)}</td>
      <td className={isPlain ? undefined : classes.wide}>{countText(row.calls)}</td>
      {isPlain ? null : (
        <>
          <td>{countText(row.inputTokens)}</td>
          <td className={classes.wide}>{countText(row.cachedInputTokens)}</td>
          <td>{countText(row.outputTokens)}</td>
          <td className={classes.wide}>{countText(row.reasoningTokens)}</td>
        </>
      )}
    </>
  );
}
