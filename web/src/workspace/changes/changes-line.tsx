import 'virtual:texts/changes';
import type { Message } from '@homeport/contracts/chat/conversations';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FileDiff, Redo2, Undo2 } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { workspaceQuery } from '../../api/queries.ts';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { pathsWritten } from '../../conversation/workspace-paths.ts';
import { useText } from '../../i18n/i18n.ts';
import { whenNear } from '../../layout/when-near.ts';
import { type ChangeSummary, keepSummary, readSummary, summaryOf } from './change-summary.ts';
import classes from './changes.module.css';
import { changesQuery } from './changes-api.ts';
import { useChange } from './use-change.tsx';

/**
 * The number of files that an answer changed, under it, with the ways to review and undo them. Reading the changes would
 * start a stopped workspace: meanwhile the line shows the summary that was last seen, or the files that the answer's
 * calls name.
 */
export function ChangesLine({ message }: { message: Message }) {
  const t = useText();
  const { chatId, showChanges } = useThreadActions();
  const answer = { chatId, messageId: message.id };
  const line = useRef<HTMLDivElement>(null);
  const isNear = useIsNear(line);
  const { data: status } = useQuery({ ...workspaceQuery, enabled: isNear, refetchOnMount: 'always' });
  const isRunning = status?.phase === 'running';
  const { data } = useQuery({ ...changesQuery(answer), enabled: isNear && isRunning, staleTime: 30_000 });
  const called = useMemo(() => calledSummary(message), [message]);
  const summary = data ? summaryOf(data) : (readSummary(message.id) ?? called);
  const { change, isBusy, dialog } = useChange(answer);
  useEffect(() => {
    if (data) keepSummary(message.id, summaryOf(data));
  }, [data, message.id]);
  const isUnclear = data === undefined ? summary === undefined : data.left.length > 0;
  if (summary === undefined && !isUnclear) return <div ref={line} />;
  const isUndone = summary !== undefined && summary.undone === summary.files;
  const direction = isUndone ? 'redo' : 'undo';
  return (
    <div ref={line} className={classes.line} data-part="changes">
      <FileDiff size={15} aria-hidden />
      <span>{summary === undefined ? t('changes.maybe') : <Counts summary={summary} />}</span>
      <span className={classes.lineActions}>
        <Button size="compact-xs" variant="subtle" onClick={() => showChanges(message.id)}>
          {t('changes.review')}
        </Button>
        {summary === undefined ? null : (
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            loading={isBusy}
            leftSection={isUndone ? <Redo2 size={13} aria-hidden /> : <Undo2 size={13} aria-hidden />}
            onClick={() => change({ direction })}
          >
            {t(`changes.${direction}Short`)}
          </Button>
        )}
      </span>
      {dialog}
    </div>
  );
}

function Counts({ summary }: { summary: ChangeSummary }) {
  const t = useText();
  const { files, undone, added, removed } = summary;
  return (
    <>
      {t('changes.filesChanged', { count: files })}
      {added === undefined || removed === undefined ? null : (
        <>
          {', '}
          <span className={classes.gained}>{t('changes.linesAdded', { count: added })}</span>{' '}
          <span className={classes.lost}>{t('changes.linesRemoved', { count: removed })}</span>
        </>
      )}
      {undone === 0 ? null : (
        <strong className={classes.lineState}>
          {' · '}
          {undone === files ? t('changes.undone') : t('changes.someUndone', { count: undone })}
        </strong>
      )}
    </>
  );
}

/** The files that the file tools wrote; undefined if there were only commands. */
function calledSummary({ parts }: Message): ChangeSummary | undefined {
  const files = pathsWritten(parts).length;
  return files === 0 ? undefined : { files, undone: 0 };
}

function useIsNear(element: { readonly current: Element | null }): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => (element.current ? whenNear(element.current, () => setNear(true)) : undefined), [element]);
  return isNear;
}
