/** Whether the preview of a page that a model writes opens by itself, once for each file. */
export type PreviewOpening = 'open' | 'link';

const key = 'preview-opening:v1';
const openedKey = 'opened-previews:v1';
const mostKept = 200;

export function readPreviewOpening(): PreviewOpening {
  return localStorage.getItem(key) === 'link' ? 'link' : 'open';
}

/** False when the browser would not store it. */
export function writePreviewOpening(opening: PreviewOpening): boolean {
  return write(key, opening);
}

/** True the first time that it is asked for a file of a conversation, unless the person wants links only. */
export function takeFirstOpening(chatId: string, path: string): boolean {
  if (readPreviewOpening() === 'link') return false;
  const opened = readOpened();
  const name = `${chatId} ${path}`;
  if (opened.includes(name)) return false;
  // Otherwise it would open again each time.
  return write(openedKey, JSON.stringify([...opened, name].slice(-mostKept)));
}

function readOpened(): unknown[] {
  try {
    const opened: unknown = JSON.parse(localStorage.getItem(openedKey) ?? '[]');
    return Array.isArray(opened) ? opened : [];
  } catch {
    return [];
  }
}

function write(name: string, value: string): boolean {
  try {
    localStorage.setItem(name, value);
    return true;
  } catch {
    return false;
  }
}
