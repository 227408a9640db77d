/** A tracked change of a paragraph: `kind` is "inserted" or "deleted". */
export type TrackedChange = { kind: string; author: string; text: string };

/** Characters of a change that are shown. */
export const longestChange = 2_000;

/** The tracked changes of a paragraph, which its text shows as accepted. */
export function describeChanges(changes: readonly TrackedChange[]): string {
  const shown = changes.filter(({ text }) => text.trim() !== '');
  const authors = [...new Set(shown.map(({ author }) => author).filter(Boolean))];
  const list = shown.map(({ kind, text }) => `${kind} “${text.trim()}”`).join(', ');
  return list === '' ? '' : `[tracked change${authors.length === 0 ? '' : ` by ${authors.join(', ')}`}: ${list}]`;
}
