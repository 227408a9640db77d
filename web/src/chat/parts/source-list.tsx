import type { MessagePart } from '@homeport/contracts/chat/frames';
import { useText } from '../../i18n/i18n.ts';
import classes from './part-view.module.css';
import { sourcesOf } from './sources.ts';

/** The numbered sources under an answer; nothing without any. */
export function SourceList({ parts }: { parts: readonly MessagePart[] }) {
  const t = useText();
  const sources = sourcesOf(parts);
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
