import type { ImportEntry } from '@homeport/contracts/imports';
import { Button, Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n.ts';
import { listEntries } from './imports-api.ts';
import classes from './moving.module.css';

/** What an import brings, conversation by conversation, and why some do not come. */
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
      <Table aria-label={t('moving.report')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('moving.title')}</Table.Th>
            <Table.Th>{t('moving.outcome')}</Table.Th>
            <Table.Th className={classes.number}>{t('moving.messages')}</Table.Th>
            <Table.Th className={classes.number}>{t('moving.files')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((entry) => (
            <EntryRow key={entry.position} entry={entry} />
          ))}
        </Table.Tbody>
      </Table>
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
    <Table.Tr>
      <Table.Td className={classes.cell}>
        {targetId !== null && kind === 'conversation' ? (
          <Link to="/c/$chatId" params={{ chatId: targetId }}>
            {title}
          </Link>
        ) : (
          title
        )}
        {kind === 'conversation' ? null : <span className={classes.detail}> · {t(`moving.${kind}`)}</span>}
        {reason === null ? null : <div className={classes.detail}>{reason}</div>}
      </Table.Td>
      <Table.Td>{t(`moving.outcome.${outcome}`)}</Table.Td>
      <Table.Td className={classes.number}>{messages}</Table.Td>
      <Table.Td className={classes.number}>{files}</Table.Td>
    </Table.Tr>
  );
}
