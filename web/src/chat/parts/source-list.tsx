import type { Message } from '@homeport/contracts/chat/conversations';
import type { WebSource } from '@homeport/contracts/web-search';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { quoteBefore } from '../../web-search/quote-marks.ts';
import { WebSourceDialog } from '../../web-search/web-source-dialog.tsx';
import { type OpenedSource, WebSourceMark, WebSources, webSourcesQuery } from '../../web-search/web-sources.tsx';
import classes from './part-view.module.css';
import { type AnswerSource, numberedPieces, sourcesOf } from './sources.ts';

type Props = {
  message: Message;
  /** Called with what links the numbers in the answer's text, whenever its sources change. */
  onLinks: (links: () => (text: string) => ReactNode) => void;
};

const noSources: readonly WebSource[] = [];
const webTools = new Set(['read_page', 'web_search']);

/** The sources under an answer: the provider's, numbered, and pages read from the web. */
export function SourceList({ message: { id, chatId, parts, status }, onLinks }: Props) {
  const hasWeb = parts.some((part) => part.type === 'dynamic-tool' && webTools.has(part.toolName));
  const { data } = useQuery({ ...webSourcesQuery(chatId, id), enabled: hasWeb && status !== 'streaming' });
  const [opened, setOpened] = useState<OpenedSource>();
  const given = sourcesOf(parts);
  const web = data?.sources ?? noSources;
  const key = JSON.stringify(given);
  useEffect(() => onLinks(() => (text) => numberedText(text, given, web, setOpened)), [key, web, onLinks]);
  return (
    <>
      <ProviderSources sources={given} />
      <WebSources sources={web} onOpen={setOpened} />
      {opened ? <WebSourceDialog {...opened} onClose={() => setOpened(undefined)} /> : null}
    </>
  );
}

function ProviderSources({ sources }: { sources: AnswerSource[] }) {
  const t = useText();
  if (sources.length === 0) return null;
  return (
    <section className={classes.sources} aria-label={t('message.sources')} data-part="sources">
      <h3>{t('message.sources')}</h3>
      <ol>
        {sources.map((source) => (
          <li key={source.number} value={source.number}>
            {source.href === undefined ? (
              <bdi>{source.title}</bdi>
            ) : (
              <SourceLink source={source}>
                <bdi>{source.title}</bdi>
              </SourceLink>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** A number opens the page that the model read, or leads to the provider's source. */
function numberedText(
  text: string,
  given: readonly AnswerSource[],
  web: readonly WebSource[],
  onOpen: (opened: OpenedSource) => void,
): ReactNode {
  const linked = given.filter(({ href, number }) => href !== undefined && !web.some((page) => page.number === number));
  const pieces = numberedPieces<AnswerSource | WebSource>(text, [...web, ...linked]);
  return pieces.map((piece, index) => {
    if (typeof piece === 'string') return piece;
    if (!('quotes' in piece)) {
      return (
        <SourceLink key={index} source={piece}>
          [{piece.number}]
        </SourceLink>
      );
    }
    const before = pieces[index - 1];
    const quote = typeof before === 'string' ? quoteBefore(before, piece.quotes) : undefined;
    return <WebSourceMark key={index} source={piece} onOpen={() => onOpen({ source: piece, quote })} />;
  });
}

function SourceLink({ source, children }: { source: AnswerSource; children: ReactNode }) {
  return (
    <a href={source.href} target="_blank" rel="noopener noreferrer nofollow" title={`${source.title} ${source.href}`}>
      {children}
    </a>
  );
}
