import { type RefObject, useEffect, useState } from 'react';
import type { HighlightedLine } from './highlight-protocol.ts';

type Result = { code: string; language: string; lines: HighlightedLine[] | null };

/** The coloured lines of a finished piece of code, once it comes near the screen; null until then and without a grammar. */
export function useHighlight(
  element: RefObject<HTMLElement | null>,
  { code, language, isClosed }: { code: string; language: string; isClosed: boolean },
): HighlightedLine[] | null {
  const [result, setResult] = useState<Result>();
  useEffect(() => {
    if (!isClosed || language === '' || !element.current) return;
    let isWanted = true;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        observer.disconnect();
        void import('./highlighter.ts')
          .then(({ highlighter }) => highlighter.highlight(code, language))
          .then(
            (lines) => isWanted && setResult({ code, language, lines }),
            // Without the file the code stays as it is: readable.
            () => {},
          );
      },
      { rootMargin: '600px' },
    );
    observer.observe(element.current);
    return () => {
      isWanted = false;
      observer.disconnect();
    };
  }, [element, code, language, isClosed]);
  return result?.code === code && result.language === language ? result.lines : null;
}
