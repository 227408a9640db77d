import type { Message } from '@homeport/contracts/chat/conversations';
import { type ReactNode, useEffect } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { WebSources } from '../../web-search/web-sources.tsx';
import classes from './part-view.module.css';
import { type AnswerSource, numberedPieces, sourcesOf } from './sources.ts';

type Props = {
  message: Message;
  /** Called with what links the numbers in the answer's text, whenever its sources change. */
  onLinks: (links: () => (text: string) => ReactNode) => void;
};

const webTools = new Set(['read_page', 'web_search']);

/** The sources under an answer: the provider's, numbered, and pages read from the web. */
export function SourceList({ message: { id, chatId, parts, status }, onLinks }: Props) {
  const hasWeb = parts.some((part) => part.type === 'dynamic-tool' && webTools.has(part.toolName));
  return (
    <>
      <ProviderSources sources={sourcesOf(parts)} onLinks={onLinks} />
      {hasWeb && status !== 'streaming' ? <WebSources chatId={chatId} messageId={id} /> : null}
    </>
  );
}

function ProviderSources({ sources, onLinks }: { sources: AnswerSource[] } & Pick<Props, 'onLinks'>) {
  const t = useText();
  const key = JSON.stringify(sources);
  useEffect(() => onLinks(() => (text) => numberedText(text, sources)), [key, onLinks]);
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

function numberedText(text: string, sources: readonly AnswerSource[]): ReactNode {
  return numberedPieces(text, sources).map((piece, index) =>
    typeof piece === 'string' ? (
      piece
    ) : (
      <SourceLink key={index} source={piece}>
        [{piece.number}]
      </SourceLink>
    ),
  );
}

function SourceLink({ source, children }: { source: AnswerSource; children: ReactNode }) {
  return (
    <a href={source.href} target="_blank" rel="noopener noreferrer nofollow" title={`${source.title} ${source.href}`}>
      {children}
    </a>
  );
}
