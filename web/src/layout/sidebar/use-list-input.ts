import { type KeyboardEvent, type MouseEvent, type PointerEvent, useRef } from 'react';

/** The list's handlers; ids are those of conversations. */
export type ListInput = {
  order: () => readonly string[];
  isSelecting: () => boolean;
  toggle: (id: string) => void;
  extend: (id: string) => void;
  clear: () => void;
  rename: (id: string) => void;
  remove: (id: string) => void;
  openMenu: (id: string) => void;
  focused: (id: string) => void;
};

const longPress = 500;
const steps = new Map([
  ['ArrowDown', 1],
  ['ArrowUp', -1],
  ['Home', Number.NEGATIVE_INFINITY],
  ['End', Number.POSITIVE_INFINITY],
]);

/** Focuses the row of a conversation. */
export function focusRow(list: ParentNode | null, id: string | undefined): void {
  if (id === undefined) return;
  list?.querySelector<HTMLElement>(`[data-chat="${CSS.escape(id)}"] [data-row]`)?.focus();
}

/** Handlers for the whole list: arrow keys, F2, Delete, and selecting with Ctrl, Shift, Space or a long press. */
export function useListInput(input: ListInput) {
  const press = useRef<{ timer: number; x: number; y: number } | null>(null);
  const swallowsClick = useRef(false);
  const endPress = () => {
    if (press.current) clearTimeout(press.current.timer);
    press.current = null;
  };

  const move = (event: KeyboardEvent, id: string, by: number) => {
    const order = input.order();
    const at = order.indexOf(id);
    const next = order[Math.max(0, Math.min(order.length - 1, at + by))];
    event.preventDefault();
    if (next === undefined) return;
    focusRow(event.currentTarget, next);
    if (event.shiftKey) {
      if (!input.isSelecting()) input.toggle(id);
      input.extend(next);
    }
  };

  return {
    onFocus: (event: { target: EventTarget }) => {
      const id = rowOf(event.target);
      if (id !== undefined) input.focused(id);
    },
    onKeyDown: (event: KeyboardEvent) => {
      const id = rowOf(event.target);
      if (id === undefined || event.nativeEvent.isComposing || isMenuTarget(event.target)) return;
      if (event.key === 'Escape' && input.isSelecting()) {
        event.preventDefault();
        event.stopPropagation();
        return input.clear();
      }
      const by = steps.get(event.key);
      if (by !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) return move(event, id, by);
      const act = rowKey(event, input);
      if (!act) return;
      event.preventDefault();
      act(id);
    },
    onClickCapture: (event: MouseEvent) => {
      const id = rowOf(event.target);
      if (id === undefined || !isRowTarget(event.target)) return;
      const isSwallowed = swallowsClick.current;
      swallowsClick.current = false;
      const chooses = event.ctrlKey || event.metaKey || event.shiftKey || input.isSelecting();
      if (!chooses && !isSwallowed) return;
      event.preventDefault();
      event.stopPropagation();
      if (isSwallowed) return;
      if (event.shiftKey) input.extend(id);
      else input.toggle(id);
    },
    onDoubleClick: (event: MouseEvent) => {
      const id = rowOf(event.target);
      if (id !== undefined && isRowTarget(event.target) && !input.isSelecting()) input.rename(id);
    },
    onPointerDown: (event: PointerEvent) => {
      const id = rowOf(event.target);
      swallowsClick.current = false;
      if (id === undefined || event.pointerType === 'mouse' || !isRowTarget(event.target)) return;
      const choose = () => {
        swallowsClick.current = true;
        press.current = null;
        input.toggle(id);
      };
      press.current = { timer: window.setTimeout(choose, longPress), x: event.clientX, y: event.clientY };
    },
    onPointerMove: (event: PointerEvent) => {
      const at = press.current;
      if (at && Math.hypot(event.clientX - at.x, event.clientY - at.y) > 8) endPress();
    },
    onPointerUp: endPress,
    onPointerCancel: endPress,
    onContextMenu: (event: MouseEvent) => {
      if (press.current || swallowsClick.current) event.preventDefault();
    },
  };
}

function rowKey(event: KeyboardEvent, input: ListInput): ((id: string) => void) | undefined {
  if (event.key === 'F2') return input.rename;
  if (event.key === 'Delete') return input.remove;
  if (event.key === ' ') return input.toggle;
  if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) return input.openMenu;
  return undefined;
}

function rowOf(target: EventTarget): string | undefined {
  return target instanceof Element ? target.closest<HTMLElement>('[data-chat]')?.dataset.chat : undefined;
}

function isRowTarget(target: EventTarget): boolean {
  return target instanceof Element && target.closest('[data-row]') !== null;
}

function isMenuTarget(target: EventTarget): boolean {
  return target instanceof Element && target.closest('[data-menu]') !== null;
}
