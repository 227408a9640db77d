import 'virtual:texts/files';
import type { Message } from '@homeport/contracts/chat/conversations';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { workspaceQuery } from '../../api/queries.ts';
import { usedWritingTools } from '../../conversation/choices/writing-tools.ts';
import { writtenFiles } from '../../conversation/workspace-paths.ts';
import fileClasses from '../../files/files.module.css';
import { fileIcon } from '../../files/preview/file-kind.ts';
import { useText } from '../../i18n/i18n.ts';
import { changesQuery } from '../changes/changes-api.ts';
import classes from '../workspace.module.css';
import { nameOf, parentOf } from './paths.ts';

/** Answers whose recorded changes are read for the list, the newest. */
const readAnswers = 10;
const shownAtFirst = 50;

/**
 * The files that the answers of a conversation wrote in the workspace: those of their file tools, and while it runs also
 * those of their commands.
 */
export function WrittenFiles({ chatId, messages }: { chatId: string; messages: readonly Message[] }) {
  const t = useText();
  const paths = useWrittenPaths(chatId, messages);
  const [isWhole, setWhole] = useState(false);
  if (paths.length === 0) return null;
  const shown = isWhole ? paths : paths.slice(0, shownAtFirst);
  return (
    <section className={classes.written}>
      <h3 className={classes.writtenTitle}>{t('files.inWorkspace')}</h3>
      <ul className={fileClasses.rows} aria-label={t('files.inWorkspace')}>
        {shown.map((path) => (
          <li key={path} className={fileClasses.row}>
            <WrittenFile chatId={chatId} path={path} />
          </li>
        ))}
      </ul>
      {shown.length < paths.length ? (
        <button type="button" className={classes.writtenMore} onClick={() => setWhole(true)}>
          {t('files.more')}
        </button>
      ) : null}
    </section>
  );
}

function WrittenFile({ chatId, path }: { chatId: string; path: string }) {
  const Icon = fileIcon({ filename: path, mediaType: '' });
  return (
    <Link
      to="/c/$chatId"
      params={{ chatId }}
      search={{ panel: 'workspace', path }}
      resetScroll={false}
      className={fileClasses.open}
    >
      <Icon size={17} aria-hidden className={fileClasses.icon} />
      <span className={fileClasses.rowText}>
        <bdi className={fileClasses.name}>{nameOf(path)}</bdi>
        <span className={fileClasses.fact} dir="ltr">
          {parentOf(path)}
        </span>
      </span>
    </Link>
  );
}

function useWrittenPaths(chatId: string, messages: readonly Message[]): string[] {
  const called = useMemo(() => writtenFiles(messages), [messages]);
  const answers = useMemo(
    () => messages.filter((message) => message.status !== 'streaming' && usedWritingTools(message)).slice(-readAnswers),
    [messages],
  );
  const { data: status } = useQuery({ ...workspaceQuery, enabled: answers.length > 0 });
  const enabled = status?.phase === 'running';
  const changed = useQueries({
    queries: answers.map(({ id }) => ({ ...changesQuery({ chatId, messageId: id }), staleTime: 30_000, enabled })),
  });
  const files = changed.flatMap(({ data }) => data?.files ?? []);
  const written = files.filter(({ after, state }) => after?.type === 'file' && state !== 'undone');
  return [...new Set([...called, ...written.map(({ path }) => path)])];
}
