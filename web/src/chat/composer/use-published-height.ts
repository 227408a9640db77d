import { type RefObject, useEffect } from 'react';

/** Pixels that a notice needs. */
const roomForNotice = 96;

/** Publishes the height of an element at the bottom of the page as `--composer-height`, so that notices stay above it. */
export function usePublishedHeight(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { current } = element;
    if (!current) return;
    const { style } = document.documentElement;
    const publish = () => {
      const page = document.body.getBoundingClientRect().bottom;
      const { top, bottom } = current.getBoundingClientRect();
      // On the start page there is room below it.
      style.setProperty('--composer-height', page - bottom > roomForNotice ? '0px' : `${Math.max(0, page - top)}px`);
    };
    const observer = new ResizeObserver(publish);
    observer.observe(current);
    return () => {
      observer.disconnect();
      style.removeProperty('--composer-height');
    };
  }, [element]);
}
