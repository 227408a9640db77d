import { Check, Copy } from 'lucide-react';
import { Fragment, memo, use, useRef, useState } from 'react';
import { useCopy } from '../clipboard.ts';
import { useText } from '../i18n.ts';
import { GrowingContext } from './growing.ts';
import { type HighlightedLine, tokenKinds } from './highlight-protocol.ts';
import classes from './markdown.module.css';
import { useHighlight } from './use-highlight.ts';

/** Characters put on the page before somebody asks for the rest. */
const shownAtFirst = 50_000;

type Props = { code: string; language: string /** Its closing fence has arrived. */; isClosed: boolean };

/** Preformatted text with its language and a copy button. */
export function CodeBlock({ code, language, isClosed }: Props) {
  const t = useText();
  const { isCopied, copy } = useCopy();
  const isGrowing = use(GrowingContext);
  const [showsAll, setShowsAll] = useState(false);
  const figure = useRef<HTMLElement>(null);
  const lines = useHighlight(figure, { code, language, isClosed: isClosed || !isGrowing });
  const isCut = code.length > shownAtFirst && !showsAll;
  return (
    <figure className={classes.code} dir="ltr" ref={figure}>
      <figcaption className={classes.codeHead}>
        <span>{language}</span>
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
    </figure>
  );
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
