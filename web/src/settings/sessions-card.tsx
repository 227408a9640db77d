import type { AccountSession } from '@homeport/contracts/accounts/accounts';
import { Button } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { FormFailure } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { dateLocale } from '../i18n/format-locale.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import { Card } from '../layout/section.tsx';
import { showFailure, showToast } from '../layout/toasts.tsx';
import { browserName } from './browser-name.ts';
import classes from './sessions-card.module.css';

const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => call('GET /api/me/sessions', { signal }),
  staleTime: 0,
});

/** Sessions of the user, with buttons that end them. */
export function SessionsCard() {
  const t = useText();
  const queries = useQueryClient();
  const { data, error } = useQuery(sessionsQuery);
  const [isBusy, setBusy] = useState(false);
  const sessions = data?.sessions ?? [];
  const hasOthers = sessions.some((session) => !session.current);
  const end = async (query: { id: string } | { others: '1' }, told: (ended: number) => string) => {
    if (isBusy) return;
    setBusy(true);
    try {
      const { ended } = await call('DELETE /api/me/sessions', { query });
      showToast(told(ended));
    } catch (failure) {
      showFailure(t('settings.changeFailed'), failureText(failure, t));
    }
    await queries.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    setBusy(false);
  };
  return (
    <Card
      title={t('account.sessions')}
      text={data && !hasOthers ? t('account.sessionNoOthers') : t('account.sessionsText')}
      action={
        hasOthers ? (
          <Button
            size="compact-sm"
            variant="default"
            aria-disabled={isBusy}
            onClick={() => void end({ others: '1' }, (count) => t('account.sessionEndedOthers', { count }))}
          >
            {t('account.sessionEndOthers')}
          </Button>
        ) : undefined
      }
    >
      <FormFailure failure={error ?? undefined} />
      {data || error ? null : <Loading />}
      <ul className={classes.sessions}>
        {sessions.map((session) => (
          <SessionRow
            key={session.id}
            session={session}
            onEnd={(name) => void end({ id: session.id }, () => t('account.sessionEnded', { name }))}
          />
        ))}
      </ul>
    </Card>
  );
}

function SessionRow({ session, onEnd }: { session: AccountSession; onEnd: (name: string) => void }) {
  const t = useText();
  const name = sessionName(session, t);
  const date = new Date(session.createdAt);
  return (
    <li className={classes.session}>
      <div className={classes.about}>
        <div className={classes.name} title={session.userAgent ?? undefined}>
          {name}
          {session.current ? <span className={classes.current}>{t('account.sessionThis')}</span> : null}
        </div>
        <div className={classes.detail}>
          {session.address ? `${session.address} · ` : null}
          <time dateTime={session.createdAt}>
            {t('account.sessionSince', {
              date: new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' }).format(date),
            })}
          </time>
        </div>
      </div>
      {session.current ? null : (
        <Button
          size="compact-sm"
          variant="subtle"
          aria-label={t('account.sessionEndNamed', { name })}
          onClick={() => onEnd(name)}
        >
          {t('account.sessionEnd')}
        </Button>
      )}
    </li>
  );
}

function sessionName({ userAgent }: AccountSession, t: Translate): string {
  const { browser, system } = browserName(userAgent);
  if (browser && system) return t('account.sessionOn', { browser, system });
  return browser ?? system ?? t('account.sessionUnknown');
}
