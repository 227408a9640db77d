import 'virtual:texts/previews';
import 'virtual:texts/workspace';
import 'virtual:texts/files';
import 'virtual:texts/pages';
import type { WorkspaceUsage } from '@homeport/contracts/workspace/workspace';
import { Activity, AppWindow, FolderOpen, SquareTerminal } from 'lucide-react';
import { type KeyboardEvent, useId } from 'react';
import { formatSize } from '../files/preview/file-look.ts';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { lazyComponent } from '../layout/lazy-component.tsx';
import { FileBrowser } from './files/file-browser.tsx';
import type { WorkspaceTab } from './files/paths.ts';
import { NotReady } from './not-ready.tsx';
import type { AppPlace } from './previews/previews-api.ts';
import { StatusBar } from './status-bar.tsx';
import { useWorkspace } from './use-workspace.ts';
import classes from './workspace.module.css';

const PortsView = lazyComponent(async () => (await import('./previews/ports-view.tsx')).PortsView);
const ProcessesView = lazyComponent(async () => (await import('./processes-view.tsx')).ProcessesView);
const TerminalView = lazyComponent(async () => (await import('./terminal/terminal-view.tsx')).TerminalView);

const tabs = [
  { id: 'files', text: 'workspace.files', Icon: FolderOpen },
  { id: 'terminal', text: 'workspace.terminal', Icon: SquareTerminal },
  { id: 'apps', text: 'ports.tab', Icon: AppWindow },
  { id: 'processes', text: 'workspace.processes', Icon: Activity },
] as const;

export type WorkspacePlace = { tab: WorkspaceTab; path: string; app?: AppPlace };

/** The person's workspace: its state, and its files, terminal or apps. The caller holds the current location. */
export function WorkspaceView({
  tab,
  path,
  app,
  onPlace,
}: WorkspacePlace & { onPlace: (place: Partial<WorkspacePlace>) => void }) {
  const t = useText();
  const id = useId();
  const workspace = useWorkspace();
  const { status, error } = workspace;
  if (status === undefined) {
    return error ? <FormFailure failure={error} /> : <div className={classes.place} aria-busy="true" />;
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    event.preventDefault();
    const step = event.key === 'ArrowRight' ? 1 : tabs.length - 1;
    const next = tabs[(tabs.findIndex(({ id: each }) => each === tab) + step) % tabs.length]?.id ?? 'files';
    onPlace({ tab: next });
    document.getElementById(`${id}-${next}`)?.focus();
  };
  if (status.phase === 'disabled') return <NotReady workspace={workspace} status={status} />;
  return (
    <>
      <StatusBar workspace={workspace} status={status} />
      {status.phase === 'running' && !workspace.isStopping ? (
        <>
          {/* A single failed status request doesn't unmount the terminal. */}
          {status.ready ? (
            <Full status={status} />
          ) : (
            <Notice kind="warning">{status.message ?? t('workspace.silent')}</Notice>
          )}
          <div className={classes.tabs} role="tablist" aria-label={t('workspace.views')} onKeyDown={onKeyDown}>
            {tabs.map(({ id: each, text, Icon }) => (
              <button
                key={each}
                type="button"
                role="tab"
                id={`${id}-${each}`}
                className={classes.tab}
                aria-selected={tab === each}
                aria-controls={`${id}-panel`}
                tabIndex={tab === each ? 0 : -1}
                onClick={() => onPlace({ tab: each })}
              >
                <Icon size={15} aria-hidden />
                {t(text)}
              </button>
            ))}
          </div>
          <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${tab}`} className={classes.tabPanel}>
            {tab === 'files' ? (
              <FileBrowser path={path} onPath={(next) => onPlace({ path: next })} />
            ) : tab === 'terminal' ? (
              <TerminalView refresh={workspace.refresh} />
            ) : tab === 'apps' ? (
              <PortsView app={app} onApp={(next) => onPlace({ app: next })} />
            ) : (
              <ProcessesView />
            )}
          </div>
        </>
      ) : (
        <NotReady workspace={workspace} status={status} />
      )}
    </>
  );
}

/** Nothing can be written, in the reader's language where the reason is the space. */
function Full({ status }: { status: WorkspaceUsage }) {
  const t = useText();
  const { usage, message } = status;
  if (message === undefined) return null;
  const { homeBytes = 0, homeBytesLimit = null } = usage ?? {};
  const isLarge = homeBytesLimit !== null && homeBytes > homeBytesLimit;
  const sizes = { used: formatSize(homeBytes), limit: formatSize(homeBytesLimit ?? 0) };
  return <Notice kind="warning">{isLarge ? t('workspace.full', sizes) : message}</Notice>;
}
