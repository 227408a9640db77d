import { type RefObject, useEffect, useState } from 'react';
import { whenNear } from '../../layout/when-near.ts';
import type { HighlightedLine } from './highlight-protocol.ts';

type Result = { code: string; language: string; lines: HighlightedLine[] | null };

/**
 * The highlighted lines of a finished block of code, once it is near the screen; null until then and without a grammar.
 */
export function useHighlight(
  element: RefObject<HTMLElement | null>,
  { code, language, isClosed }: { code: string; language: string; isClosed: boolean },
): HighlightedLine[] | null {
  const [result, setResult] = useState<Result>();
  useEffect(() => {
    if (!isClosed || language === '' || !element.current) return;
    let isWanted = true;
    const stop = whenNear(element.current, () => {
      void import('./highlighter.ts')
        .then(({ highlighter }) => highlighter.highlight(code, language))
        .then(
          (lines) => isWanted && setResult({ code, language, lines }),
          // Without the file, the code stays plain but readable.
          () => {},
        );
    });
    return () => {
      isWanted = false;
      stop();
    };
  }, [element, code, language, isClosed]);
  return result?.code === code && result.language === language ? result.lines : null;
}
