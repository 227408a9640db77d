import { type KeyboardEvent, type RefObject, useCallback, useRef, useState } from 'react';
import { stepPlaceholder } from '../../../conversation/draft/placeholders.ts';
import { findTrigger, type Trigger } from '../../../conversation/draft/suggestions.ts';

/** Key handler of the open list; true if it handled the key. */
export type SuggestionList = { onKey: (event: KeyboardEvent) => boolean };
export type ActiveOption = { listId: string; optionId: string };

/**
 * The list that a sign in the message field opens, and the placeholders of what was inserted. The focus stays in the
 * field; it is a combobox only while there is something to choose.
 */
export function useSuggestions(field: RefObject<HTMLTextAreaElement | null>) {
  const [trigger, setTrigger] = useState<Trigger>();
  const [active, setActive] = useState<ActiveOption>();
  const [isFilling, setFilling] = useState(false);
  const list = useRef<SuggestionList>(null);
  const dismissedAt = useRef<number>(undefined);

  const close = useCallback(() => {
    setTrigger(undefined);
    setActive(undefined);
  }, []);
  const dismiss = useCallback(() => {
    dismissedAt.current = trigger?.start;
    close();
  }, [trigger, close]);
  /** After each change of the text or of the cursor. */
  const look = useCallback(() => {
    const { current } = field;
    const isCursor = current && current.selectionStart === current.selectionEnd;
    const found = isCursor ? findTrigger(current.value, current.selectionStart) : undefined;
    if (found === undefined) dismissedAt.current = undefined;
    const isOpen = found !== undefined && found.start !== dismissedAt.current;
    setTrigger((before) => (isOpen ? sameOr(before, found) : undefined));
    if (!isOpen) setActive(undefined);
  }, [field]);

  /** Puts `text` in the place of what opened the list; the first placeholder in it is selected. */
  const insert = (text: string) => {
    const { current } = field;
    if (!current || !trigger) return;
    replaceRange(current, trigger.start, trigger.start + 1 + trigger.query.length, text);
    close();
    selectFirst(current, trigger.start);
  };

  /** Puts `text` where the cursor is, when the list is closed; the first placeholder in it is selected. */
  const put = (text: string) => {
    const { current } = field;
    if (!current) return;
    const { selectionStart } = current;
    replaceRange(current, selectionStart, current.selectionEnd, text);
    selectFirst(current, selectionStart);
  };
  const selectFirst = (element: HTMLTextAreaElement, from: number) => {
    const first = stepPlaceholder(element.value, { start: from, end: from }, false);
    setFilling(first !== undefined);
    if (first) element.setSelectionRange(first.start, first.end);
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): boolean => {
    if (event.nativeEvent.isComposing) return false;
    if (trigger && list.current?.onKey(event) === true) return true;
    if (!isFilling || event.ctrlKey || event.altKey || event.metaKey) return false;
    if (event.key === 'Escape') {
      event.preventDefault();
      setFilling(false);
      return true;
    }
    if (event.key !== 'Tab') return false;
    const { value, selectionStart, selectionEnd } = event.currentTarget;
    const place = stepPlaceholder(value, { start: selectionStart, end: selectionEnd }, event.shiftKey);
    if (!place) {
      setFilling(false);
      return false;
    }
    event.preventDefault();
    event.currentTarget.setSelectionRange(place.start, place.end);
    return true;
  };
  const combobox = active && {
    role: 'combobox',
    'aria-expanded': true,
    'aria-haspopup': 'listbox' as const,
    'aria-autocomplete': 'list' as const,
    'aria-controls': active.listId,
    'aria-activedescendant': active.optionId,
  };
  return {
    trigger,
    isFilling,
    endFilling: () => setFilling(false),
    list,
    onActive: setActive,
    look,
    insert,
    put,
    dismiss,
    onKeyDown,
    combobox,
  };
}

function sameOr(before: Trigger | undefined, found: Trigger): Trigger {
  const isSame = before?.sign === found.sign && before.start === found.start && before.query === found.query;
  return isSame ? before : found;
}

/** As if it was typed, so that it can be undone; where a browser cannot, the text is put in. */
function replaceRange(field: HTMLTextAreaElement, start: number, end: number, text: string): void {
  field.focus();
  field.setSelectionRange(start, end);
  const isDone = text === '' ? document.execCommand('delete') : document.execCommand('insertText', false, text);
  if (isDone) return;
  field.setRangeText(text, start, end, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
}
