import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { focusRow } from './use-list-input.ts';

type SelectionMode = {
  isActive: boolean;
  list: RefObject<HTMLElement | null>;
  /** Id of the last focused row. */
  focused: string | undefined;
  leave: () => void;
};

/** Leaves the selection mode with Escape, and keeps the focus on its row when the mode replaces the row elements. */
export function useSelectionMode({ isActive, list, focused, leave }: SelectionMode): void {
  const latest = useRef({ focused, leave });
  latest.current = { focused, leave };
  const wasActive = useRef(isActive);
  useLayoutEffect(() => {
    if (wasActive.current === isActive) return;
    wasActive.current = isActive;
    if (document.activeElement === document.body) focusRow(list.current, latest.current.focused);
  }, [isActive, list]);
  useEffect(() => {
    if (!isActive) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      if (document.querySelector('[role="alertdialog"], section[role="dialog"], [role="menu"]')) return;
      event.preventDefault();
      latest.current.leave();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [isActive]);
}
