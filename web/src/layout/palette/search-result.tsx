import type { ListedChat } from '@homeport/contracts/chat/conversations';
import { dateLocale } from '../../i18n/format-locale.ts';
import { Highlighted } from '../find/highlighted.tsx';
import classes from './search-result.module.css';

/** Below the title of a found conversation: when it was last used, and where the words are. */
export function SearchResult({ chat: { updatedAt, snippet } }: { chat: ListedChat }) {
  return (
    <span className={classes.result}>
      <time dateTime={updatedAt} className={classes.date}>
        {shortDate(new Date(updatedAt), new Date())}
      </time>
      {snippet ? (
        <span className={classes.snippet} dir="auto">
          <Highlighted text={snippet.text} words={[]} known={snippet.hits} />
        </span>
      ) : null}
    </span>
  );
}

/** The year is shown only if it is not the current one. */
function shortDate(date: Date, now: Date): string {
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return new Intl.DateTimeFormat(dateLocale(), { day: 'numeric', month: 'short', year }).format(date);
}
