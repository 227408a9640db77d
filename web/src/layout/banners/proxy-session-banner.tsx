import { Button } from '@mantine/core';
import { LogIn } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { hasProxySessionEnded, subscribeToProxySession } from '../../api/proxy-session.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from '../signed-in-frame.module.css';

/** Banner shown once a sign-in service in front of the server ended its session; a reload leads to its page. */
export function ProxySessionBanner() {
  const t = useText();
  if (!useSyncExternalStore(subscribeToProxySession, hasProxySessionEnded)) return null;
  return (
    <div role="alert" className={classes.offline}>
      <LogIn size={15} aria-hidden />
      <span>{t('app.proxySession')}</span>
      <Button size="compact-xs" variant="default" onClick={() => location.reload()}>
        {t('app.reload')}
      </Button>
    </div>
  );
}
