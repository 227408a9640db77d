import { Button } from '@mantine/core';
import { useText } from '../i18n/i18n.ts';
import classes from './section.module.css';

type Query = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };

/** Loads the next page of a list, if there is one. */
export function MoreButton({ query }: { query: Query }) {
  const t = useText();
  if (!query.hasNextPage) return null;
  return (
    <Button
      variant="default"
      className={classes.moreButton}
      aria-disabled={query.isFetchingNextPage}
      onClick={() => !query.isFetchingNextPage && void query.fetchNextPage()}
    >
      {t(query.isFetchingNextPage ? 'app.loading' : 'form.more')}
    </Button>
  );
}
