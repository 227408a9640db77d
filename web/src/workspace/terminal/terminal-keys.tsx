import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp } from 'lucide-react';
import type { PointerEvent, ReactNode } from 'react';
import { useText } from '../../i18n/i18n.ts';
import classes from './terminal.module.css';
import type { TerminalKey } from './terminal-key-codes.ts';

type Props = {
  /** Sends a key to the terminal. */
  press: (keys: TerminalKey) => void;
  /** Ctrl applies to the next character. */
  isCtrl: boolean;
  toggleCtrl: () => void;
};

/** Terminal keys that phone keyboards lack; shown on touch screens. */
export function TerminalKeys({ press, isCtrl, toggleCtrl }: Props) {
  const t = useText();
  const key = (name: TerminalKey, shown: ReactNode, label?: string) => (
    <button type="button" onPointerDown={keepFocus} onClick={() => press(name)} aria-label={label}>
      {shown}
    </button>
  );
  return (
    <div className={classes.keys} role="toolbar" aria-label={t('workspace.keys')}>
      {key('escape', t('workspace.keyEscape'))}
      {key('tab', t('workspace.keyTab'))}
      <button type="button" onPointerDown={keepFocus} onClick={toggleCtrl} aria-pressed={isCtrl}>
        {t('workspace.keyCtrl')}
      </button>
      {key('left', <ArrowLeft size={18} aria-hidden />, t('workspace.keyLeft'))}
      {key('down', <ArrowDown size={18} aria-hidden />, t('workspace.keyDown'))}
      {key('up', <ArrowUp size={18} aria-hidden />, t('workspace.keyUp'))}
      {key('right', <ArrowRight size={18} aria-hidden />, t('workspace.keyRight'))}
    </div>
  );
}

/** The on-screen keyboard stays open as long as the terminal has the focus. */
function keepFocus(event: PointerEvent): void {
  event.preventDefault();
}
