import '@xterm/xterm/css/xterm.css';
import type { WorkspaceStatus } from '@homeport/contracts/workspace/workspace';
import { ActionIcon, Button, useComputedColorScheme } from '@mantine/core';
import type { FitAddon } from '@xterm/addon-fit';
import type { Terminal } from '@xterm/xterm';
import { ClipboardPaste, Copy, RotateCcw } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { openTerminal } from '../../api/api.ts';
import { copyText } from '../../clipboard.ts';
import { useText } from '../../i18n/i18n.ts';
import { showFailure, showToast } from '../../layout/toasts.tsx';
import classes from './terminal.module.css';
import { TerminalConnection, type TerminalState, waitOnline } from './terminal-connection.ts';
import { keySequence, type TerminalKey, withCtrl } from './terminal-key-codes.ts';
import { TerminalKeys } from './terminal-keys.tsx';
import { createScreen, openScreen, themeOf } from './terminal-screen.ts';

type Props = { refresh: () => Promise<WorkspaceStatus | undefined> };

/** A shell in the workspace. After a reload it is still there, for ten minutes. */
export function TerminalView({ refresh }: Props) {
  const t = useText();
  const box = useRef<HTMLDivElement>(null);
  const isDark = useComputedColorScheme('light') === 'dark';
  const [id, setId] = useState(keptId);
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<TerminalState>({ kind: 'connecting' });
  const latest = useRef({ refresh, isDark, t });
  latest.current = { refresh, isDark, t };
  const [isCtrl, setIsCtrl] = useState(false);
  const ctrl = useRef(isCtrl);
  ctrl.current = isCtrl;
  const shown = useRef<{ screen: Terminal; connection: TerminalConnection }>(undefined);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    setState({ kind: 'connecting' });
    const { screen, fit } = createScreen(latest.current.isDark);
    openScreen(screen, element);
    screen.textarea?.setAttribute('aria-label', latest.current.t('workspace.terminalLabel'));
    fitInto(fit);
    const encoder = new TextEncoder();
    const connection = new TerminalConnection(id, {
      open: openTerminal,
      isRunning: async () => (await latest.current.refresh())?.phase === 'running',
      size: () => ({ columns: screen.cols, rows: screen.rows }),
      onReset: () => screen.reset(),
      onOutput: (bytes) => new Promise((resolve) => screen.write(bytes, resolve)),
      onState: setState,
      wait: waitOnline,
    });
    shown.current = { screen, connection };
    screen.onData((text) => {
      connection.input(encoder.encode(ctrl.current ? withCtrl(text) : text));
      setIsCtrl(false);
    });
    screen.onBinary((text) => connection.input(Uint8Array.from(text, (char) => char.charCodeAt(0))));
    screen.onResize(({ cols, rows }) => connection.resize({ columns: cols, rows }));
    screen.attachCustomKeyEventHandler(keyHandler(screen));
    const observer = new ResizeObserver(() => fitInto(fit));
    observer.observe(element);
    connection.open();
    screen.focus();
    return () => {
      observer.disconnect();
      connection.close();
      shown.current = undefined;
      screen.dispose();
    };
  }, [id, attempt]);

  useEffect(() => {
    const { screen } = shown.current ?? {};
    if (screen) screen.options.theme = themeOf(isDark);
  }, [isDark]);

  const renew = () => {
    shown.current?.connection.end();
    setId(newId());
  };
  const copy = async () => {
    const text = shown.current?.screen.getSelection() ?? '';
    if (text !== '' && (await copyText(text))) showToast(t('app.copied'));
    shown.current?.screen.focus();
  };
  const press = (key: TerminalKey) => {
    const { screen } = shown.current ?? {};
    screen?.input(keySequence(key, screen.modes.applicationCursorKeysMode));
  };
  const paste = async () => {
    try {
      shown.current?.screen.paste(await navigator.clipboard.readText());
      shown.current?.screen.focus();
    } catch {
      showFailure(t('workspace.paste'), t('workspace.pasteFailed'));
    }
  };
  return (
    <section className={classes.view} aria-label={t('workspace.terminalLabel')}>
      <div className={classes.head}>
        <span role="status" className={classes.state} data-state={state.kind}>
          {stateText(state, t)}
        </span>
        {state.kind === 'elsewhere' || state.kind === 'failed' ? (
          <Button size="xs" onClick={() => setAttempt(attempt + 1)}>
            {t(state.kind === 'failed' ? 'app.retry' : 'workspace.takeOver')}
          </Button>
        ) : null}
        <ActionIcon
          variant="default"
          size={30}
          aria-label={t('workspace.copy')}
          title={t('workspace.copy')}
          onClick={() => void copy()}
        >
          <Copy size={14} />
        </ActionIcon>
        <ActionIcon
          variant="default"
          size={30}
          aria-label={t('workspace.paste')}
          title={t('workspace.paste')}
          onClick={() => void paste()}
        >
          <ClipboardPaste size={14} />
        </ActionIcon>
        <Button
          size="xs"
          variant="default"
          title={state.kind === 'exited' ? undefined : t('workspace.newTerminalHint')}
          leftSection={<RotateCcw size={14} aria-hidden />}
          onClick={renew}
        >
          {t('workspace.newTerminal')}
        </Button>
      </div>
      <div className={classes.screen} data-off={state.kind === 'open' ? undefined : true}>
        <div ref={box} className={classes.box} dir="ltr" />
      </div>
      <TerminalKeys press={press} isCtrl={isCtrl} toggleCtrl={() => setIsCtrl(!isCtrl)} />
      <p className={classes.hint}>{t('workspace.terminalHint')}</p>
    </section>
  );
}

function stateText(state: TerminalState, t: ReturnType<typeof useText>): string {
  switch (state.kind) {
    case 'exited':
      return t('workspace.exited', { code: state.exitCode });
    case 'failed':
      return t('workspace.terminalFailed', {
        reason: t(state.reason === 'refused' ? 'workspace.terminalRefused' : 'failure.network'),
      });
    case 'lost':
      return t('workspace.reconnecting');
    case 'elsewhere':
      return t('workspace.elsewhere');
    case 'stopped':
      return t('workspace.stopped');
    default:
      return t(state.kind === 'open' ? 'workspace.connected' : 'workspace.connecting');
  }
}

function fitInto(fit: FitAddon): void {
  const size = fit.proposeDimensions();
  // A box without layout has no size; also skip useless sizes.
  if (size && size.cols >= 10 && size.rows >= 2) fit.fit();
}

/** The usual keys for copying, and Escape then Tab, since everything that captures Tab must be able to release it. */
function keyHandler(screen: Terminal) {
  let wasEscape = false;
  return (event: KeyboardEvent): boolean => {
    if (event.type !== 'keydown') return true;
    if (event.ctrlKey && event.shiftKey && event.code === 'KeyC') {
      void copyText(screen.getSelection());
      event.preventDefault();
      return false;
    }
    // The browser's own paste handles it.
    if (event.ctrlKey && event.shiftKey && event.code === 'KeyV') return false;
    if (event.key === 'Tab' && wasEscape) return false;
    if (event.key !== 'Shift') wasEscape = event.key === 'Escape';
    return true;
  };
}

const storageKey = 'workspace-terminal';

/** Each browser tab has its own terminal and keeps it across reloads. */
function keptId(): string {
  try {
    return sessionStorage.getItem(storageKey) ?? newId();
  } catch {
    return newId();
  }
}

function newId(): string {
  const id = crypto.randomUUID();
  try {
    sessionStorage.setItem(storageKey, id);
  } catch {
    // Not stored: a reload opens another terminal.
  }
  return id;
}
