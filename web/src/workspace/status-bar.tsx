import type { WorkspaceUsage } from '@homeport/contracts/workspace/workspace';
import { Button } from '@mantine/core';
import { ChevronDown, Square } from 'lucide-react';
import { useId, useState } from 'react';
import { formatSize } from '../files/preview/file-look.ts';
import { numberLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import type { WorkspaceControl } from './use-workspace.ts';
import classes from './workspace.module.css';

/** The workspace's phase and a button to stop it, in one line; resource usage and idle stop time unfold below it. */
export function StatusBar({ workspace, status }: { workspace: WorkspaceControl; status: WorkspaceUsage }) {
  const t = useText();
  const [isAsking, setAsking] = useState(false);
  const { isStarting, isStopping } = workspace;
  const phase = isStarting ? 'starting' : status.phase;
  const isOn = phase === 'running' || phase === 'starting';
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const hasFacts = phase === 'running' && (status.usage !== undefined || status.idleStopAt !== undefined);
  return (
    <div className={classes.bar}>
      <span className={classes.phase} data-phase={phase} role="status">
        <span className={classes.dot} aria-hidden />
        {t(isStopping ? 'workspace.stopping' : `workspace.${phase}`)}
      </span>
      {hasFacts ? (
        <button
          type="button"
          className={classes.factsOpener}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          {t('workspace.details')}
          <ChevronDown size={14} aria-hidden />
        </button>
      ) : null}
      {isOn ? (
        <Button
          size="xs"
          variant="default"
          className={classes.stop}
          leftSection={<Square size={12} aria-hidden />}
          disabled={isStopping}
          onClick={() => setAsking(true)}
        >
          {t('workspace.stop')}
        </Button>
      ) : null}
      {hasFacts && isOpen ? (
        <div id={id} className={classes.facts}>
          {status.usage ? <Use usage={status.usage} /> : null}
          {status.idleStopAt ? <Idle at={status.idleStopAt} /> : null}
        </div>
      ) : null}
      {isAsking ? (
        <ConfirmDialog
          title={t('workspace.stopTitle')}
          text={t('workspace.stopText')}
          confirmLabel={t('workspace.stopConfirm')}
          onConfirm={() => {
            setAsking(false);
            workspace.stop();
          }}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </div>
  );
}

function Use({ usage }: { usage: NonNullable<WorkspaceUsage['usage']> }) {
  const t = useText();
  const { memoryBytes, memoryLimitBytes, processes, homeBytes, homeBytesLimit, homeFiles, homeFilesLimit } = usage;
  const ofLimit = (used: string, limit: number | null, show: (value: number) => string): string =>
    limit === null ? used : t('workspace.usedOf', { used, limit: show(limit) });
  const count = (value: number): string => new Intl.NumberFormat(numberLocale()).format(value);
  const isCrowded = homeFilesLimit !== null && homeFiles > homeFilesLimit * 0.8;
  const facts = [
    [t('workspace.memory'), ofLimit(formatSize(memoryBytes), memoryLimitBytes, formatSize)],
    [t('workspace.processes'), count(processes)],
    [t('workspace.home'), ofLimit(formatSize(homeBytes), homeBytesLimit, formatSize)],
    ...(isCrowded ? ([[t('workspace.fileCount'), ofLimit(count(homeFiles), homeFilesLimit, count)]] as const) : []),
  ] as const;
  return (
    <dl className={classes.use} aria-label={t('workspace.use')}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Idle({ at }: { at: string }) {
  const t = useText();
  const minutes = Math.max(0, Math.floor((Date.parse(at) - Date.now()) / 60_000));
  return <span className={classes.idle}>{t('workspace.idle', { minutes })}</span>;
}
