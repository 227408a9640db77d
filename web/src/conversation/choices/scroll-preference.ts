/** Scrolling of the thread while an answer streams: follows its end, or stays at its beginning. */
export type ScrollPreference = 'follow' | 'stay';

const key = 'thread-scroll:v1';

export function readScrollPreference(): ScrollPreference {
  return localStorage.getItem(key) === 'stay' ? 'stay' : 'follow';
}

/** Holds from the next conversation opened on. False when the browser would not store it. */
export function writeScrollPreference(preference: ScrollPreference): boolean {
  try {
    localStorage.setItem(key, preference);
    return true;
  } catch {
    return false;
  }
}
