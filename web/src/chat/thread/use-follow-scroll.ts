import {
  type KeyboardEvent,
  type TouchEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type WheelEvent,
} from 'react';
import { readScrollPreference } from '../../conversation/choices/scroll-preference.ts';
import { ScrollPin } from './scroll-pin.ts';

const upwardKeys = new Set(['ArrowUp', 'PageUp', 'Home']);

/**
 * Keeps a scroll container at its end while it is pinned there. A new `ownMessageId` pins it: one wants to see what one
 * sent.
 */
export function useFollowScroll(ownMessageId: string | undefined) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [pin] = useState(() => new ScrollPin());
  const [preference] = useState(readScrollPreference);
  const [showsJump, setShowsJump] = useState(false);
  const touchY = useRef(0);
  // While the answer grows each picture scrolls to the end: asking where that is would cost a layout each time.
  const isOwnScroll = useRef(false);
  const isHeld = useRef(false);

  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
  }, []);

  useLayoutEffect(() => {
    if (ownMessageId !== undefined) pin.pin();
    toEnd();
    // Its room below the message is kept free by the style sheet, so the answer grows without moving anything.
    const box = scroller.current;
    if (preference !== 'stay' || ownMessageId === undefined || !box) return;
    pin.moveUp(box);
    // The event of the scrolling above is still to come; it is not the person who reached the end.
    pin.reached(box.scrollTop);
  }, [ownMessageId, pin, toEnd, preference]);

  useEffect(() => {
    const box = scroller.current;
    if (!box || !content.current) return;
    const observer = new ResizeObserver(() => {
      if (pin.grow(box)) {
        const before = box.scrollTop;
        box.scrollTop = box.scrollHeight;
        pin.reached(box.scrollTop);
        isOwnScroll.current = box.scrollTop !== before;
      }
      setShowsJump(pin.state.showsJump);
    });
    observer.observe(content.current);
    observer.observe(box);
    const onSelection = () => {
      const selection = document.getSelection();
      if (selection && !selection.isCollapsed && box.contains(selection.anchorNode)) pin.moveUp(box);
    };
    document.addEventListener('selectionchange', onSelection);
    return () => {
      observer.disconnect();
      document.removeEventListener('selectionchange', onSelection);
    };
  }, [pin]);

  const moveUp = () => {
    if (scroller.current) setShowsJump(pin.moveUp(scroller.current).showsJump);
  };
  return {
    scroller,
    content,
    preference,
    showsJump,
    jump: () => {
      setShowsJump(pin.pin().showsJump);
      toEnd();
      scroller.current?.focus({ preventScroll: true });
    },
    handlers: {
      onScroll: () => {
        const isOwn = isOwnScroll.current && !isHeld.current;
        isOwnScroll.current = false;
        if (scroller.current && !isOwn) setShowsJump(pin.scroll(scroller.current).showsJump);
      },
      // The scroll bar can be dragged while the answer grows.
      onPointerDown: () => {
        isHeld.current = true;
      },
      onPointerUp: () => {
        isHeld.current = false;
      },
      onPointerCancel: () => {
        isHeld.current = false;
      },
      onWheel: (event: WheelEvent) => event.deltaY < 0 && moveUp(),
      onTouchStart: (event: TouchEvent) => {
        touchY.current = event.touches[0]?.clientY ?? 0;
      },
      onTouchMove: (event: TouchEvent) => {
        if ((event.touches[0]?.clientY ?? 0) > touchY.current + 4) moveUp();
      },
      onKeyDown: (event: KeyboardEvent) => upwardKeys.has(event.key) && moveUp(),
    },
  };
}
