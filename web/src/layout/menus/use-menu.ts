import { type MouseEvent, useCallback, useState } from 'react';
import type { LazyComponent } from '../lazy-component.tsx';

/** Button of a lazily loaded menu, and its close callback. */
export type MenuPlace = { button: HTMLElement; onClose: () => void };

/**
 * A button whose menu is loaded on first use, starting as soon as a pointer or the focus is on the button. `place` is
 * set while the menu is open.
 */
export function useMenu<P extends object>(part: LazyComponent<P>, popup: 'menu' | 'dialog' = 'menu') {
  const [button, setButton] = useState<HTMLElement>();
  const onClose = useCallback(() => {
    button?.focus({ preventScroll: true });
    setButton(undefined);
  }, [button]);
  return {
    place: button ? { button, onClose } : undefined,
    buttonProps: {
      'aria-haspopup': popup,
      'aria-expanded': button !== undefined,
      onClick: (event: MouseEvent<HTMLElement>) => setButton(button ? undefined : event.currentTarget),
      onPointerEnter: part.preload,
      onFocus: part.preload,
    },
  };
}
