import type { Translate } from '../../i18n/i18n.ts';

export type Shortcut =
  | 'palette'
  | 'newConversation'
  | 'sidebar'
  | 'copyLast'
  | 'help'
  | 'focusComposer'
  | 'editLast'
  | 'stop';

export type KeyPress = {
  key: string;
  /** The physical key, for letters that another layout writes differently. */
  code: string;
  isMod: boolean;
  isShift: boolean;
  isAlt: boolean;
  isComposing: boolean;
  /** Location of the focus: the message field, another text field, a dialog or menu, or none of these. */
  place: 'composer' | 'typing' | 'overlay' | 'page';
  isComposerEmpty: boolean;
};

/** The shortcut of a key press. Typing elsewhere and input methods are left alone. */
export function shortcutOf(press: KeyPress): Shortcut | undefined {
  if (press.isComposing || press.isAlt) return undefined;
  if (press.isMod) return modified(press);
  const isWriting = press.place === 'composer' || press.place === 'typing';
  if (press.place === 'overlay') return undefined;
  if (press.key === 'Escape') return press.place === 'typing' ? undefined : 'stop';
  if (press.key === 'ArrowUp' && press.place === 'composer')
    return press.isComposerEmpty && !press.isShift ? 'editLast' : undefined;
  if (isWriting) return undefined;
  if (press.key === '?') return 'help';
  return press.key === '/' ? 'focusComposer' : undefined;
}

function modified({ key, code, isShift, place }: KeyPress): Shortcut | undefined {
  if (!isShift && isLetter('k', key, code)) return 'palette';
  if (key === '/' || key === '?') return place === 'overlay' ? undefined : 'help';
  if (!isShift || place === 'overlay') return undefined;
  if (isLetter('o', key, code)) return 'newConversation';
  if (isLetter('s', key, code)) return 'sidebar';
  return isLetter('c', key, code) ? 'copyLast' : undefined;
}

/** By the letter that the layout writes; by position if it writes no Latin letter there. */
function isLetter(letter: string, key: string, code: string): boolean {
  if (/^[a-z]$/i.test(key)) return key.toLowerCase() === letter;
  return code === `Key${letter.toUpperCase()}`;
}

export const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '');
export const mod = isMac ? '⌘' : 'Ctrl';
export const shift = isMac ? '⇧' : 'Shift';

const named = { Ctrl: 'key.ctrl', Shift: 'key.shift', Del: 'key.del' } as const;

/** A key as it is printed on keyboards of the reader's language. */
export function keyText(key: string, t: Translate): string {
  return key === 'Ctrl' || key === 'Shift' || key === 'Del' ? t(named[key]) : key;
}

/** The keys of each shortcut, which `keyText` words. */
export const shortcutKeys: Readonly<Record<Shortcut, readonly string[]>> = {
  palette: [mod, 'K'],
  newConversation: [mod, shift, 'O'],
  sidebar: [mod, shift, 'S'],
  copyLast: [mod, shift, 'C'],
  help: [mod, '/'],
  focusComposer: ['/'],
  editLast: ['↑'],
  stop: ['Esc'],
};
