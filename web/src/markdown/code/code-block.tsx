import { Check, Code, Copy, Eye } from 'lucide-react';
import { Fragment, memo, use, useCallback, useRef, useState } from 'react';
import { useCopy } from '../../clipboard.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from '../markdown.module.css';
import { StreamingContext } from '../streaming-context.ts';
import { BlockPreviews } from './block-previews.ts';
import { type HighlightedLine, tokenKinds } from './highlight-protocol.ts';
import { previewKindOf } from './preview-kind.ts';
import { useHighlight } from './use-highlight.ts';

/** Characters shown before "Show all" is pressed. */
const shownAtFirst = 50_000;
/** Characters of a diagram that is drawn unasked: a browser that draws it in the process of this page must not freeze. */
const drawnAtOnce = 8_000;

type Props = {
  code: string;
  language: string;
  /** Its closing fence has arrived. */
  isClosed: boolean;
  /** Without a preview: the page has one elsewhere, or the code is only a beginning. */
  isPlain?: boolean;
};

/** Preformatted text with its language and a copy button; with a preview of pages, tables and diagrams. */
export function CodeBlock({ code, language, isClosed, isPlain }: Props) {
  const t = useText();
  const { isCopied, copy } = useCopy();
  const isGrowing = use(StreamingContext);
  const [showsAll, setShowsAll] = useState(false);
  const figure = useRef<HTMLElement>(null);
  const isComplete = isClosed || !isGrowing;
  const lines = useHighlight(figure, { code, language, isClosed: isComplete });
  const isCut = code.length > shownAtFirst && !showsAll;
  const BlockPreview = use(BlockPreviews);
  const kind = BlockPreview && isComplete && !isPlain ? previewKindOf(language, code) : undefined;
  const preview = usePreviewSwitch(kind === 'diagram' && isClosed && code.length <= drawnAtOnce);
  const isPreviewed = kind !== undefined && preview.isShown;
  const source = (
    <div hidden={isPreviewed} data-source>
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
    </div>
  );
  return (
    <figure className={classes.code} dir="ltr" ref={figure}>
      <figcaption className={classes.codeHead}>
        <span className={classes.language}>{language}</span>
        {kind ? (
          <button type="button" className={classes.copy} onClick={preview.toggle}>
            {isPreviewed ? <Code size={14} aria-hidden /> : <Eye size={14} aria-hidden />}
            <span>{t(isPreviewed ? 'markdown.showCode' : 'markdown.preview')}</span>
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
      {BlockPreview && kind && preview.attempt > 0 ? (
        <BlockPreview key={preview.attempt} kind={kind} code={code} language={language} onShown={preview.setShown} />
      ) : null}
      {source}
    </figure>
  );
}

/**
 * `attempt` is 0 while only the code is shown; each request for the preview is a new attempt, so that a failed one can be
 * repeated. The code stays until the preview is there.
 */
function usePreviewSwitch(opensByItself: boolean) {
  const [state, setState] = useState<{ asked?: number; isShown: boolean }>({ isShown: false });
  const attempt = state.asked ?? (opensByItself ? 1 : 0);
  const toggle = () => setState(({ isShown }) => ({ asked: isShown ? 0 : attempt + 1, isShown: false }));
  const setShown = useCallback(() => setState(({ asked }) => ({ ...(asked && { asked }), isShown: true })), []);
  return { attempt, isShown: state.isShown, toggle, setShown };
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
