import 'virtual:texts/context';
import type { AnswerContext } from '@homeport/contracts/chat/context';
import { numberLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import classes from './context.module.css';
import { type Share, sharesOf } from './context-shares.ts';

/** Usage of the context window: a bar, and each part in words and numbers. */
export function ContextBar({ context }: { context: AnswerContext }) {
  const t = useText();
  const { total, window, counted, files } = context.tokens;
  const isMixed = files === null;
  const shares = sharesOf(context);
  const percent = new Intl.NumberFormat(numberLocale(), { style: 'percent', maximumFractionDigits: 1 });
  const all = Math.max(window, total);
  return (
    <div className={classes.shares}>
      <p className={classes.total}>
        <strong>{t('context.used', { used: total, window })}</strong>{' '}
        <span>{t(counted ? 'saw.counted' : 'saw.estimated')}</span>
      </p>
      <div className={classes.bar} aria-hidden>
        {shares.map(({ kind, tokens }) => (
          <span key={kind} data-kind={kind} style={{ flexGrow: tokens / all }} />
        ))}
      </div>
      <div className={classes.legend}>
        {shares.map((share) => (
          <LegendLine
            key={share.kind}
            share={share}
            label={t(share.kind === 'messages' && isMixed ? 'saw.share.mixed' : `saw.share.${share.kind}`)}
            percent={percent.format(share.tokens / all)}
          />
        ))}
      </div>
    </div>
  );
}

function LegendLine({ share: { kind, tokens }, label, percent }: { share: Share; label: string; percent: string }) {
  const t = useText();
  return (
    <div className={classes.line}>
      <span className={classes.swatch} data-kind={kind} aria-hidden />
      <span>{label}</span>
      <span className={classes.amount}>{t('saw.amount', { tokens, percent })}</span>
    </div>
  );
}
