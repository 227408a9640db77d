import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiFailure } from '../api/api-failure.ts';
import { failureDetail } from '../i18n/error-texts.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import classes from './form.module.css';

type Kind = 'failure' | 'warning' | 'success' | 'info';

const icons = { failure: CircleAlert, warning: TriangleAlert, success: CircleCheck, info: Info } as const;
const roles = { failure: 'alert', warning: undefined, success: 'status', info: undefined } as const;

/** An inline notice. Failures are announced assertively, successes politely. */
export function Notice({
  kind,
  title,
  children,
  action,
}: {
  kind: Kind;
  title?: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  const Icon = icons[kind];
  return (
    <div className={classes.notice} data-kind={kind} role={roles[kind]}>
      <Icon size={17} aria-hidden className={classes.icon} />
      <div className={classes.words}>
        {title ? <strong>{title}</strong> : null}
        {children}
        {action ? <div className={classes.noticeAction}>{action}</div> : null}
      </div>
    </div>
  );
}

/** Why the whole form was refused; nothing without a failure. */
export function FormFailure({ failure, text }: { failure: unknown; text?: string }) {
  const t = useText();
  if (failure === undefined) return null;
  const requestId = failure instanceof ApiFailure && failure.status >= 500 ? failure.requestId : undefined;
  return (
    <Notice kind="failure">
      {text ?? failureText(failure, t)}
      <FailureDetail text={failure instanceof ApiFailure ? failureDetail(failure) : undefined} />
      {requestId ? <span className={classes.reference}>{t('failure.reference', { requestId })}</span> : null}
      <ErrorHelp failure={failure} />
    </Notice>
  );
}

/** The provider's own sentence, or the server's English one: a stranger's text, folded away and never marked up. */
export function FailureDetail({ text }: { text?: string | undefined }) {
  const t = useText();
  if (text === undefined || text === '') return null;
  return (
    <details className={classes.detail}>
      <summary>{t('failure.details')}</summary>
      <bdi dir="auto">{text}</bdi>
    </details>
  );
}

/** Failures that the person cannot understand from the form alone, but can do something about. */
const explained = new Set(['blocked_destination', 'origin_not_allowed', 'credentials_unreadable']);

/** A link to the documentation on this failure, if it has more than the message. */
export function ErrorHelp({ failure }: { failure: unknown }) {
  const t = useText();
  if (!(failure instanceof ApiFailure) || failure.code === 'unreadable') return null;
  if (failure.status < 500 && !explained.has(failure.code)) return null;
  return (
    <a className={classes.help} href={`/docs/errors#${failure.code}`} target="_blank" rel="noopener">
      {t('failure.help')}
    </a>
  );
}

/** For `rate_limited`: how long to wait; undefined for any other failure. */
export function useWaitText(failure: unknown): string | undefined {
  const t = useText();
  if (!(failure instanceof ApiFailure) || failure.code !== 'rate_limited') return undefined;
  return t('form.rateLimited', { minutes: Math.floor((failure.retryAfter ?? 60) / 60) });
}
