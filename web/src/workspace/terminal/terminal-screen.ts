import { FitAddon } from '@xterm/addon-fit';
import { type ITheme, Terminal } from '@xterm/xterm';
import { readNonce } from '../../api/public-config.ts';

/** Creates the terminal's screen and the addon that fits it into its box. */
export function createScreen(isDark: boolean): { screen: Terminal; fit: FitAddon } {
  const screen = new Terminal({
    allowProposedApi: false,
    cursorBlink: true,
    fontFamily: 'ui-monospace, SFMono-Regular, Menlo, Monaco, Consolas, "Liberation Mono", monospace',
    fontSize: 13,
    lineHeight: 1.2,
    // Reads lines out as they arrive.
    screenReaderMode: true,
    scrollback: 5_000,
    minimumContrastRatio: 4.5,
    theme: themeOf(isDark),
  });
  const fit = new FitAddon();
  screen.loadAddon(fit);
  return { screen, fit };
}

/**
 * Mounts the screen. It writes colors and sizes into style elements that it creates meanwhile and has no option for the
 * nonce, which the page's content security policy requires.
 */
export function openScreen(screen: Terminal, box: HTMLElement): void {
  const nonce = readNonce();
  const create = document.createElement.bind(document);
  Object.assign(document, {
    createElement: (name: string) => {
      const element = create(name);
      if (element instanceof HTMLStyleElement) element.nonce = nonce;
      return element;
    },
  });
  try {
    screen.open(box);
  } finally {
    // The document's own method is below it.
    Reflect.deleteProperty(document, 'createElement');
  }
}

const light: ITheme = {
  background: '#ffffff',
  foreground: '#1b1c1e',
  cursor: '#1b1c1e',
  cursorAccent: '#ffffff',
  selectionBackground: '#c9d7f2',
  black: '#1b1c1e',
  red: '#b3221a',
  green: '#1a7431',
  yellow: '#7a5300',
  blue: '#1d56b8',
  magenta: '#8a2a8f',
  cyan: '#0f6b75',
  white: '#5f6368',
  brightBlack: '#5f6368',
  brightRed: '#c5322a',
  brightGreen: '#21803a',
  brightYellow: '#8a6100',
  brightBlue: '#2d66c8',
  brightMagenta: '#9a3a9f',
  brightCyan: '#187783',
  brightWhite: '#3a3c40',
};
const dark: ITheme = {
  background: '#111214',
  foreground: '#e6e7e9',
  cursor: '#e6e7e9',
  cursorAccent: '#111214',
  selectionBackground: '#3a4a66',
  black: '#2b2d32',
  red: '#ff8f87',
  green: '#7fd492',
  yellow: '#f0cd7c',
  blue: '#8ab4ff',
  magenta: '#e5a1ea',
  cyan: '#7ed3dd',
  white: '#c8cace',
  brightBlack: '#8b9098',
  brightRed: '#ffaba5',
  brightGreen: '#9be3ab',
  brightYellow: '#f7dd9f',
  brightBlue: '#a9c8ff',
  brightMagenta: '#efbdf2',
  brightCyan: '#a0e2ea',
  brightWhite: '#ffffff',
};

export function themeOf(isDark: boolean): ITheme {
  return isDark ? dark : light;
}
