/**
 * Key that sends a message: Enter, with Shift+Enter for a new line, or only Ctrl+Enter (⌘+Enter), with Enter for a new
 * line.
 */
export type SendKey = 'enter' | 'modified';

export type SendPress = {
  key: string;
  shiftKey: boolean;
  altKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  isComposing: boolean;
  keyCode: number;
};

const name = 'send-key:v1';

export function readSendKey(): SendKey {
  return localStorage.getItem(name) === 'modified' ? 'modified' : 'enter';
}

/** Stores the preference for all tabs. False if the browser refused. */
export function writeSendKey(key: SendKey): boolean {
  try {
    localStorage.setItem(name, key);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a key press sends. Never with Shift or Alt, and never while an input method composes (some only tell by key
 * code 229); Enter alone not on a touch screen, where it is the only way to a new line.
 */
export function isSendKey(press: SendPress, preference: SendKey, isTouch: boolean): boolean {
  if (press.key !== 'Enter' || press.shiftKey || press.altKey) return false;
  if (press.isComposing || press.keyCode === 229) return false;
  return press.ctrlKey || press.metaKey || (preference === 'enter' && !isTouch);
}

/** Whether a key press sends into the running answer: Ctrl+Shift+Enter (⌘+Shift+Enter), with either preference. */
export function isSendNowKey(press: SendPress): boolean {
  return press.shiftKey && isSendKey({ ...press, shiftKey: false }, 'modified', false);
}
