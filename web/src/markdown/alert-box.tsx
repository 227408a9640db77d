import { Info, Lightbulb, MessageSquareWarning, OctagonAlert, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../i18n/i18n.ts';
import classes from './markdown.module.css';
import type { AlertKind } from './parser/alerts.ts';

const icons = {
  note: Info,
  tip: Lightbulb,
  important: MessageSquareWarning,
  warning: TriangleAlert,
  caution: OctagonAlert,
};

/** A quote that begins with `[!NOTE]` or one of its kind, with a title in the reader's language. */
export function AlertBox({ kind, children }: { kind: AlertKind; children: ReactNode }) {
  const t = useText();
  const Icon = icons[kind];
  return (
    <blockquote className={classes.alert} data-alert={kind}>
      <p className={classes.alertTitle}>
        <Icon size={16} aria-hidden />
        {t(`markdown.alert.${kind}`)}
      </p>
      {children}
    </blockquote>
  );
}
