import { Check, Copy } from 'lucide-react';
import { Fragment, memo, use, useCallback, useRef, useState } from 'react';
import { useCopy } from '../../clipboard.ts';
import { useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import classes from '../markdown.module.css';
import { StreamingContext } from '../streaming-context.ts';
import { type HighlightedLine, tokenKinds } from './highlight-protocol.ts';
import { useHighlight } from './use-highlight.ts';

/** Characters shown before "Show all" is pressed. */
const shownAtFirst = 50_000;

type Props = { code: string; language: string /** Its closing fence has arrived. */; isClosed: boolean };

const DiagramView = lazyComponent(async () => (await import('../../diagram/diagram-view.tsx')).DiagramView);

/** Preformatted text with its language and a copy button; a diagram's code can be shown as a picture. */
export function CodeBlock({ code, language, isClosed }: Props) {
  const t = useText();
  const { isCopied, copy } = useCopy();
  const isGrowing = use(StreamingContext);
  const [showsAll, setShowsAll] = useState(false);
  const figure = useRef<HTMLElement>(null);
  const lines = useHighlight(figure, { code, language, isClosed: isClosed || !isGrowing });
  const isCut = code.length > shownAtFirst && !showsAll;
  const diagram = useDiagramSwitch();
  const isDiagram = language.toLowerCase() === 'mermaid' && isClosed && !isGrowing;
  const source = (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code data-highlighted={(lines !== null && !isCut) || undefined}>
          {lines && !isCut ? <Lines lines={lines} /> : code.slice(0, isCut ? shownAtFirst : undefined)}
        </code>
      </pre>
      {isCut ? (
        <button type="button" className={classes.more} onClick={() => setShowsAll(true)}>
          {t('markdown.showAllCode', { count: code.length })}
        </button>
      ) : null}
    </>
  );
  return (
    <figure className={classes.code} dir="ltr" ref={figure}>
      <figcaption className={classes.codeHead}>
        <span className={classes.language}>{language}</span>
        {isDiagram ? (
          <button type="button" className={classes.copy} onClick={diagram.toggle}>
            {t(diagram.isDrawn ? 'markdown.showCode' : 'markdown.showDiagram')}
          </button>
        ) : null}
        <button
          type="button"
          className={classes.copy}
          onClick={() => copy(code)}
          aria-label={t(isCopied ? 'markdown.codeCopied' : 'markdown.copyCode')}
        >
          {isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
          <span>{t(isCopied ? 'app.copied' : 'app.copy')}</span>
        </button>
      </figcaption>
      {isDiagram && diagram.attempt > 0 ? (
        <DiagramView key={diagram.attempt} code={code} onDrawn={diagram.setDrawn}>
          {source}
        </DiagramView>
      ) : (
        source
      )}
    </figure>
  );
}

/**
 * `attempt` is 0 while the code is shown; each request for the picture is a new attempt, so that a failed one can be
 * repeated.
 */
function useDiagramSwitch() {
  const [state, setState] = useState({ attempt: 0, isDrawn: false });
  const toggle = () => setState(({ attempt, isDrawn }) => ({ attempt: isDrawn ? 0 : attempt + 1, isDrawn: false }));
  const setDrawn = useCallback(() => setState(({ attempt }) => ({ attempt, isDrawn: true })), []);
  return { ...state, toggle, setDrawn };
}

const Lines = memo(function Lines({ lines }: { lines: readonly HighlightedLine[] }) {
  return lines.map((line, index) => (
    <Fragment key={index}>
      {index === 0 ? null : '\n'}
      {line.map(([text, kind], at) =>
        kind === 0 ? (
          text
        ) : (
          <span key={at} data-kind={tokenKinds[kind]}>
            {text}
          </span>
        ),
      )}
    </Fragment>
  ));
});
