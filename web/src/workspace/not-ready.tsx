import type { WorkspaceStatus } from '@homeport/contracts/workspace/workspace';
import { Button, Loader } from '@mantine/core';
import { CirclePlay, MonitorOff, MonitorPause, MonitorX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useClientSession } from '../conversation/client-session.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { useIsSlow } from '../layout/use-is-slow.ts';
import type { WorkspaceControl } from './use-workspace.ts';
import classes from './workspace.module.css';

/** Milliseconds after which a start counts as slow. */
const slow = 8_000;

/** Placeholder for files and terminal while the workspace isn't ready, with the reason and one action. */
export function NotReady({ workspace, status }: { workspace: WorkspaceControl; status: WorkspaceStatus }) {
  if (status.phase === 'disabled') return <Off reason={status.message} />;
  if (workspace.isStarting) return <Starting message={status.message} />;
  if (workspace.startFailure !== undefined) return <Failed workspace={workspace} />;
  return <Stopped workspace={workspace} message={status.message} />;
}

function Place({
  icon,
  title,
  children,
  action,
}: {
  icon: ReactNode;
  title: string;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={classes.place}>
      {icon}
      <h2 className={classes.placeTitle}>{title}</h2>
      {children}
      {action}
    </div>
  );
}

function Starting({ message }: { message: string | undefined }) {
  const t = useText();
  // A workspace that starts quickly shows no sign of it.
  const isSeen = useIsSlow(250);
  const isSlow = useIsSlow(slow);
  if (!isSeen) return <div className={classes.place} aria-busy="true" />;
  return (
    <Place icon={<Loader size={28} aria-hidden />} title={t('workspace.startingTitle')}>
      <p role="status">{message ?? t(isSlow ? 'workspace.startingLong' : 'workspace.startingText')}</p>
    </Place>
  );
}

function Stopped({ workspace, message }: { workspace: WorkspaceControl; message: string | undefined }) {
  const t = useText();
  return (
    <Place
      icon={<MonitorPause size={28} aria-hidden />}
      title={t('workspace.stoppedTitle')}
      action={
        <Button leftSection={<CirclePlay size={16} aria-hidden />} onClick={workspace.start}>
          {t('workspace.start')}
        </Button>
      }
    >
      <p>{message ?? t('workspace.stoppedText')}</p>
    </Place>
  );
}

function Failed({ workspace }: { workspace: WorkspaceControl }) {
  const t = useText();
  const { user } = useClientSession();
  return (
    <Place
      icon={<MonitorX size={28} aria-hidden />}
      title={t('workspace.failedTitle')}
      action={<Button onClick={workspace.start}>{t('workspace.startAgain')}</Button>}
    >
      <p role="alert" className={classes.reason}>
        {failureText(workspace.startFailure, t)}
      </p>
      <p>{t(user.role === 'admin' ? 'workspace.failedAdmin' : 'workspace.failedText')}</p>
    </Place>
  );
}

function Off({ reason }: { reason: string | undefined }) {
  const t = useText();
  const { user } = useClientSession();
  const isAdmin = user.role === 'admin';
  return (
    <Place icon={<MonitorOff size={28} aria-hidden />} title={t('workspace.offTitle')}>
      <p>{t(isAdmin ? 'workspace.offAdmin' : 'workspace.offText')}</p>
      {isAdmin && reason !== undefined ? (
        <p className={classes.reason}>{t('workspace.offReason', { reason })}</p>
      ) : null}
    </Place>
  );
}
