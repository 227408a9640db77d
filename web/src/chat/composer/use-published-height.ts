import { type RefObject, useEffect } from 'react';

/** Publishes the height of an element at the bottom of the page as `--composer-height`, so that notices stay above it. */
export function usePublishedHeight(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { current } = element;
    if (!current) return;
    const { style } = document.documentElement;
    const publish = () => {
      const { bottom } = document.body.getBoundingClientRect();
      style.setProperty('--composer-height', `${Math.max(0, bottom - current.getBoundingClientRect().top)}px`);
    };
    const observer = new ResizeObserver(publish);
    observer.observe(current);
    return () => {
      observer.disconnect();
      style.removeProperty('--composer-height');
    };
  }, [element]);
}
