import type { Message } from '@homeport/contracts/chat/conversations';
import { useText } from '../../i18n/i18n.ts';
import { WebSources } from '../../web-search/web-sources.tsx';
import classes from './part-view.module.css';
import { sourcesOf } from './sources.ts';

const webTools = new Set(['read_page', 'web_search']);

/** The sources under an answer: the provider's, numbered, and pages read from the web. */
export function SourceList({ message: { id, chatId, parts, status } }: { message: Message }) {
  const hasWeb = parts.some((part) => part.type === 'dynamic-tool' && webTools.has(part.toolName));
  return (
    <>
      <ProviderSources sources={sourcesOf(parts)} />
      {hasWeb && status !== 'streaming' ? <WebSources chatId={chatId} messageId={id} /> : null}
    </>
  );
}

function ProviderSources({ sources }: { sources: ReturnType<typeof sourcesOf> }) {
  const t = useText();
  if (sources.length === 0) return null;
  return (
    <section className={classes.sources} aria-label={t('message.sources')} data-part="sources">
      <h3>{t('message.sources')}</h3>
      <ol>
        {sources.map(({ title, href }) => (
          <li key={href ?? title}>
            {href === undefined ? (
              <bdi>{title}</bdi>
            ) : (
              <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
                <bdi>{title}</bdi>
              </a>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
