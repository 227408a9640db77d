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
const mod = isMac ? '⌘' : 'Ctrl';
const shift = isMac ? '⇧' : 'Shift';

/** The keys of each shortcut, as the sheet shows them. */
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
