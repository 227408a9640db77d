export type TerminalKey = 'escape' | 'tab' | 'up' | 'down' | 'left' | 'right';

/** Escape sequence of a key; arrows differ in application cursor mode. */
export function keySequence(key: TerminalKey, isApplicationMode: boolean): string {
  if (key === 'escape') return '\x1b';
  if (key === 'tab') return '\t';
  const letter = { up: 'A', down: 'B', right: 'C', left: 'D' }[key];
  return `\x1b${isApplicationMode ? 'O' : '['}${letter}`;
}

/** The control character of a typed character; if there is none, the character itself. */
export function withCtrl(text: string): string {
  if (text === ' ') return '\0';
  return /^[@-_a-z]$/.test(text) ? String.fromCharCode(text.toUpperCase().charCodeAt(0) & 0x1f) : text;
}
