import 'virtual:texts/previews';
import { ActionIcon } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft, ExternalLink, Maximize, RotateCw } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { FormFailure } from '../../forms/notice.tsx';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { showFailure } from '../../layout/toasts.tsx';
import classes from './previews.module.css';
import { type AppPlace, openPreview, previewQuery } from './previews-api.ts';
import { StorageHint } from './storage-hint.tsx';

/**
 * It has an origin of its own, so that it may use its storage; it may not leave its frame, nor stop our page with
 * dialogs.
 */
const sandbox = 'allow-scripts allow-same-origin allow-forms allow-downloads allow-pointer-lock';

/** An app of the workspace in a frame, at an address of its own. */
export function AppView({ app, onBack }: { app: AppPlace; onBack: () => void }) {
  const t = useText();
  const box = useRef<HTMLDivElement>(null);
  const [round, setRound] = useState(0);
  const { data, error, isFetching } = useQuery(previewQuery(app, round));
  const port = String(app.port);
  const openTab = async () => {
    // A window that is opened after waiting for an answer would be blocked.
    const tab = window.open('about:blank', '_blank');
    if (tab === null) return;
    tab.opener = null;
    try {
      tab.location.replace((await openPreview(app)).url);
    } catch (failure) {
      tab.close();
      showFailure(t('ports.failed'), failureText(failure, t));
    }
  };
  return (
    <div className={classes.view} ref={box}>
      <div className={classes.bar}>
        <Action label={t('ports.back')} onClick={onBack}>
          <ArrowLeft size={15} />
        </Action>
        <span className={classes.address} dir="ltr">
          {`:${port}${app.at}`}
        </span>
        <Action label={t('ports.reload')} onClick={() => setRound(round + 1)}>
          <RotateCw size={15} />
        </Action>
        <Action label={t('ports.openTab')} onClick={() => void openTab()}>
          <ExternalLink size={15} />
        </Action>
        <Action label={t('ports.full')} onClick={() => void box.current?.requestFullscreen()}>
          <Maximize size={15} />
        </Action>
      </div>
      {error && !isFetching ? <FormFailure failure={error} /> : null}
      {data === undefined ? null : (
        <iframe
          key={data.url}
          className={classes.frame}
          sandbox={sandbox}
          referrerPolicy="no-referrer"
          src={data.url}
          title={t('ports.frame', { port })}
        />
      )}
      {data === undefined ? null : <StorageHint origin={new URL(data.url).origin} openTab={() => void openTab()} />}
    </div>
  );
}

function Action({ label, onClick, children }: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} onClick={onClick}>
      {children}
    </ActionIcon>
  );
}
