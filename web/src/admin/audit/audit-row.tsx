import type { AuditEvent } from '@homeport/contracts/admin';
import { ChevronRight } from 'lucide-react';
import { dateLocale } from '../../i18n/format-locale.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from './audit.module.css';
import { detailText, type Names, sentenceOf } from './audit-sentences.ts';

/** One event: a sentence, and a fold with all its details. */
export function AuditRow({ event, names }: { event: AuditEvent; names: Names }) {
  const t = useText();
  const { at, actorId, action, targetType, targetId, address, requestId } = event;
  const time = new Intl.DateTimeFormat(dateLocale(), { timeStyle: 'medium' }).format(new Date(at));
  const actor = actorId === null ? undefined : names.get(actorId);
  const facts: [string, string][] = [
    [t('audit.exactTime'), at],
    [t('audit.action'), action],
    [
      t('audit.actor'),
      actorId === null ? t('audit.nobody') : actor ? `${actor.name} <${actor.email}>, ${actorId}` : actorId,
    ],
    ...(targetType === null && targetId === null
      ? []
      : [[t('audit.target'), [targetType, targetId].filter(Boolean).join(' ')] satisfies [string, string]]),
    ...(address === null ? [] : [[t('audit.address'), address] satisfies [string, string]]),
    ...(requestId === null ? [] : [[t('audit.request'), requestId] satisfies [string, string]]),
    ...Object.entries(event.details).map(([name, value]) => [name, detailText(value)] satisfies [string, string]),
  ];
  return (
    <li>
      <details className={classes.event}>
        <summary>
          <ChevronRight size={15} aria-hidden className={classes.arrow} />
          <span className={classes.sentence} data-kind={action === 'session.sign_in_failed' ? 'warning' : undefined}>
            {sentenceOf(event, names, t)}
          </span>
          <span className={classes.meta}>
            {address === null ? null : <span className={classes.address}>{address}</span>}
            <time dateTime={at}>{time}</time>
          </span>
        </summary>
        <dl className={classes.facts}>
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </li>
  );
}
