import 'virtual:texts/rendered';
import { ActionIcon, Button } from '@mantine/core';
import { Maximize, RotateCw } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { maximumSource, parseRenderedMessage, type RenderedKind } from './protocol.ts';
import classes from './rendered.module.css';

type Props = {
  kind: RenderedKind;
  source: string;
  isTypeScript: boolean;
  name: string;
  /** Puts the errors into the draft; absent without a composer. */
  onFix?: ((faults: readonly string[]) => void) | undefined;
};

/** Most errors shown; later ones usually follow from the first. */
const mostFaults = 5;

/** Model-generated page in a frame without an origin, network or storage. */
export function RenderedView({ kind, source, isTypeScript, name, onFix }: Props) {
  const t = useText();
  const box = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLIFrameElement>(null);
  const [runs, setRuns] = useState(0);
  const [faults, setFaults] = useState<readonly string[]>([]);
  const [loaded, setLoaded] = useState({ source, count: 0 });
  // Another source needs another frame: a page accepts its source only once.
  if (loaded.source !== source) setLoaded({ source, count: loaded.count + 1 });
  useEffect(() => {
    setFaults([]);
    let isAsked = false;
    const listen = (event: MessageEvent) => {
      const target = frame.current?.contentWindow;
      if (!target || event.source !== target) return;
      const message = parseRenderedMessage(event.data);
      // Only once: the code in the frame could ask again.
      if (message?.type === 'ready' && !isAsked) {
        isAsked = true;
        target.postMessage({ kind, source, isTypeScript }, '*');
      }
      if (message?.type === 'fault') {
        setFaults((known) =>
          known.length >= mostFaults || known.includes(message.text) ? known : [...known, message.text],
        );
      }
    };
    window.addEventListener('message', listen);
    return () => window.removeEventListener('message', listen);
  }, [kind, source, isTypeScript, runs]);

  if (source.length > maximumSource) return <p className={classes.quiet}>{t('rendered.tooLarge')}</p>;
  return (
    <div className={classes.view} ref={box}>
      <div className={classes.bar}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('rendered.again')}
          title={t('rendered.again')}
          onClick={() => setRuns(runs + 1)}
        >
          <RotateCw size={15} />
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('rendered.full')}
          title={t('rendered.full')}
          onClick={() => void box.current?.requestFullscreen()}
        >
          <Maximize size={15} />
        </ActionIcon>
      </div>
      <iframe
        key={`${runs} ${loaded.count}`}
        ref={frame}
        className={classes.frame}
        sandbox="allow-scripts"
        src="/rendered.html"
        title={t('rendered.title', { name })}
      />
      {faults.length > 0 ? (
        <Notice
          kind="warning"
          title={t('rendered.faults')}
          action={
            onFix ? (
              <Button size="compact-sm" variant="default" onClick={() => onFix(faults)}>
                {t('rendered.fix')}
              </Button>
            ) : undefined
          }
        >
          <ul className={classes.faults}>
            {faults.map((fault) => (
              <li key={fault}>{fault}</li>
            ))}
          </ul>
        </Notice>
      ) : null}
    </div>
  );
}
