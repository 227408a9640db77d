/** Long texts that were pasted into a message, kept beside its draft as one stored item. */

/** From so many characters on a pasted text is put aside. */
export const longPaste = 4_000;

/** The item's name among the drafts. */
export function pastedName(draftName: string): string {
  return `${draftName}:pasted`;
}

export function parsePasted(stored: string): string[] {
  if (stored === '') return [];
  try {
    const texts: unknown = JSON.parse(stored);
    return Array.isArray(texts) ? texts.filter((text) => typeof text === 'string') : [];
  } catch {
    return [];
  }
}

export function storePasted(texts: readonly string[]): string {
  return texts.length === 0 ? '' : JSON.stringify(texts);
}

/** Joins the written text and the pasted texts into one message. */
export function joinPasted(text: string, pasted: readonly string[]): string {
  return [text.trim() === '' ? '' : text, ...pasted].filter((each) => each !== '').join('\n\n');
}
