import type { ImportEntry } from '@homeport/contracts/imports';
import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import classes from './import-export.module.css';
import { listEntries } from './imports-api.ts';

/** Result of an import by conversation, with the reason for each that was skipped. */
export function ImportReport({ importId }: { importId: string }) {
  const t = useText();
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['imports', importId, 'entries'],
    queryFn: ({ pageParam, signal }) => listEntries(importId, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    staleTime: 0,
  });
  const entries = data?.pages.flatMap((page) => page.entries) ?? [];
  if (error) return <FormFailure failure={error} />;
  return (
    <div className={classes.report}>
      <table className={classes.table} aria-label={t('moving.report')}>
        <thead>
          <tr>
            <th scope="col">{t('moving.title')}</th>
            <th scope="col">{t('moving.outcome')}</th>
            <th scope="col" className={classes.number}>
              {t('moving.messages')}
            </th>
            <th scope="col" className={classes.number}>
              {t('moving.files')}
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <EntryRow key={entry.position} entry={entry} />
          ))}
        </tbody>
      </table>
      {hasNextPage ? (
        <Button
          size="compact-sm"
          variant="subtle"
          aria-disabled={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          {t('moving.more')}
        </Button>
      ) : null}
    </div>
  );
}

function EntryRow({ entry }: { entry: ImportEntry }) {
  const t = useText();
  const { title, kind, outcome, reason, messages, files, targetId } = entry;
  return (
    <tr>
      <th scope="row">
        {targetId !== null && kind === 'conversation' ? (
          <Link to="/c/$chatId" params={{ chatId: targetId }}>
            {title}
          </Link>
        ) : (
          title
        )}
        {kind === 'conversation' ? null : <span className={classes.detail}> · {t(`moving.${kind}`)}</span>}
        {reason === null ? null : <div className={classes.reason}>{reason}</div>}
      </th>
      <td>{t(`moving.outcome.${outcome}`)}</td>
      <td className={classes.number}>{kind === 'conversation' ? messages : null}</td>
      <td className={classes.number}>{files}</td>
    </tr>
  );
}
