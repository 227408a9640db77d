import { useEffect, useState } from 'react';

/**
 * For what is mounted only while it is open and takes the focus, such as a dialog: when it goes, the focus is back where
 * it was, unless it has found another place by then.
 */
export function useReturnFocus(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      const isLost = document.activeElement === null || document.activeElement === document.body;
      if (isLost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    },
    [before],
  );
}
