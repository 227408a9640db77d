import { useEffect, useState } from 'react';
import { useClientSession } from './client-session.ts';

/** The unsent text `name`, written to storage with every change. `isKept` is false when storage refused it. */
export function useDraft(name: string): { text: string; setText: (text: string) => void; isKept: boolean } {
  const { drafts } = useClientSession();
  const [text, setText] = useState(() => drafts.read(name));
  const [isKept, setKept] = useState(true);
  useEffect(() => {
    setText(drafts.read(name));
    return drafts.subscribe((changed) => {
      if (changed === name) setText(drafts.read(name));
    });
  }, [drafts, name]);
  const change = (next: string) => {
    setText(next);
    setKept(drafts.write(name, next));
  };
  return { text, setText: change, isKept };
}
