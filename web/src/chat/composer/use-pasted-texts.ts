import type { ClipboardEvent } from 'react';
import { joinPasted, longPaste, parsePasted, pastedName, storePasted } from '../../conversation/draft/pasted-texts.ts';
import { useDraft } from '../../conversation/use-draft.ts';

type Draft = { text: string; setText: (text: string) => void };

/** The long texts that were pasted beside a draft. They are stored with it and go out in the same message. */
export function usePastedTexts(draft: Draft, draftName: string) {
  const stored = useDraft(pastedName(draftName));
  const texts = parsePasted(stored.text);
  const keep = (next: readonly string[]) => stored.setText(storePasted(next));
  const remove = (index: number) => keep(texts.filter((_, at) => at !== index));
  return {
    texts,
    isKept: stored.isKept,
    onPaste: (event: ClipboardEvent) => {
      const text = event.clipboardData.getData('text/plain');
      if (text.length < longPaste) return;
      event.preventDefault();
      keep([...texts, text]);
    },
    remove,
    insert: (index: number) => {
      draft.setText(joinPasted(draft.text, texts.slice(index, index + 1)));
      remove(index);
    },
  };
}
