import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Notice } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import classes from './previews.module.css';

/** Path at a preview's origin of a page that tells whether framed apps can keep data. */
const storagePath = '/.homeport/storage';

/** Offers an app its own tab where the browser keeps no data for apps in frames: there many of them don't work. */
export function StorageHint({ origin, openTab }: { origin: string; openTab: () => void }) {
  const t = useText();
  const frame = useRef<HTMLIFrameElement>(null);
  const [state, setState] = useState<'unknown' | 'usable' | 'blocked' | 'dismissed'>('unknown');
  useEffect(() => {
    const read = ({ source, data }: MessageEvent) => {
      if (source !== frame.current?.contentWindow) return;
      const isUsable: unknown = typeof data === 'object' && data !== null ? data.homeportStorage : undefined;
      if (typeof isUsable === 'boolean') setState(isUsable ? 'usable' : 'blocked');
    };
    window.addEventListener('message', read);
    return () => window.removeEventListener('message', read);
  }, []);
  if (state === 'unknown') {
    return (
      <iframe
        ref={frame}
        className={classes.probe}
        sandbox="allow-scripts allow-same-origin"
        src={origin + storagePath}
        title={t('ports.storageFrame')}
      />
    );
  }
  if (state !== 'blocked') return null;
  const action = (
    <span className={classes.hintActions}>
      <Button size="compact-xs" onClick={openTab}>
        {t('ports.openTab')}
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => setState('dismissed')}>
        {t('ports.dismiss')}
      </Button>
    </span>
  );
  return (
    <Notice kind="info" action={action}>
      {t('ports.noStorage')}
    </Notice>
  );
}
