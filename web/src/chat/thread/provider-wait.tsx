import 'virtual:texts/waiting';
import type { ProviderWait } from '@homeport/contracts/chat/frames';
import { useEffect, useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import classes from './thread.module.css';

const waitTexts = {
  rate_limited: 'thread.waitLimited',
  loading: 'thread.waitLoading',
  unavailable: 'thread.waitUnavailable',
  first_byte: 'thread.waitFirst',
} as const;

/** The reason for a pause of the provider and the time of the retry; nothing once that time has come. */
export function ProviderWaitNote({ wait }: { wait: ProviderWait }) {
  const t = useText();
  const retryAt = Date.parse(wait.retryAt);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.ceil((retryAt - now) / 1000);
  if (!(seconds > 0)) return null;
  return (
    <div className={classes.note}>
      <span role="status">{t(waitTexts[wait.reason] ?? 'thread.waitUnavailable')}</span>{' '}
      {/* Read out once, not every second. */}
      <span aria-hidden>
        {t(wait.reason === 'first_byte' ? 'thread.waitLeft' : 'thread.waitRetry', { seconds: Math.min(seconds, 3600) })}
      </span>
    </div>
  );
}
