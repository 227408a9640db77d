import 'virtual:texts/files';
import { ActionIcon } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { publicConfigQuery } from '../../api/queries.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import type { AttachedFile } from '../../conversation/draft/attached-files.ts';
import type { NewChat } from '../../conversation/new-chat.ts';
import { useText } from '../../i18n/i18n.ts';
import type { IncomingFiles } from '../../incoming-files.ts';
import { previewAddress } from '../file-address.ts';
import classes from '../files.module.css';
import { fileIcon, previewKind } from '../preview/file-kind.ts';
import { AttachedFact, FirstLines } from './attached-fact.tsx';
import { createAttachmentUploads, detach, mostFiles } from './attachment-uploads.ts';
import { UploadRow } from './upload-rows.tsx';

/** Why the message cannot be sent yet. */
export type TrayBlock = 'uploading' | 'failed';

type Props = {
  chatId: string;
  draftName: string;
  newChat: NewChat | undefined;
  files: readonly AttachedFile[];
  /** Files that were just dropped, pasted or chosen; consumed once. */
  incoming: IncomingFiles | undefined;
  onTaken: () => void;
  onBlock: (block: TrayBlock | undefined) => void;
  isDisabled: boolean;
};

/** The files of the next message: finished ones and running uploads. */
export function AttachmentTray({ chatId, draftName, newChat, files, incoming, onTaken, onBlock, isDisabled }: Props) {
  const t = useText();
  const { user, drafts } = useClientSession();
  const { data: config } = useQuery(publicConfigQuery);
  const maximumBytes = config?.limits.artifactMaxUploadBytes ?? Number.POSITIVE_INFINITY;
  const [problems, setProblems] = useState<readonly string[]>([]);
  const desk = useMemo(
    () =>
      createAttachmentUploads({
        userId: user.id,
        chatId,
        drafts,
        maximumBytes,
        draftName,
        newChat,
      }),
    [user.id, chatId, drafts, maximumBytes, draftName, newChat],
  );
  const uploads = useSyncExternalStore(desk.subscribe, desk.getView);

  useEffect(() => {
    if (!incoming) return;
    const room = Math.max(0, mostFiles - files.length - desk.getView().length);
    setProblems([
      ...(incoming.folders > 0 ? [t('files.noFolders', { count: incoming.folders })] : []),
      ...(incoming.files.length > room ? [t('files.tooMany', { max: mostFiles })] : []),
    ]);
    desk.add(incoming.files.slice(0, room));
    onTaken();
  }, [incoming, desk, files.length, onTaken, t]);

  const block = uploads.some(({ state }) => state === 'failed' || state === 'refused')
    ? 'failed'
    : uploads.length > 0
      ? 'uploading'
      : undefined;
  useEffect(() => onBlock(block), [block, onBlock]);
  useEffect(() => () => onBlock(undefined), [onBlock]);

  return (
    <>
      {problems.map((problem) => (
        <p key={problem} role="alert" className={classes.problem}>
          {problem}
          <ActionIcon
            variant="subtle"
            color="gray"
            size={24}
            aria-label={t('app.dismiss')}
            onClick={() => setProblems(problems.filter((each) => each !== problem))}
          >
            <X size={14} />
          </ActionIcon>
        </p>
      ))}
      {files.length + uploads.length > 0 ? (
        <ul className={classes.tray} aria-label={t('files.attached')}>
          {files.map((file) => (
            <Attached
              key={file.id}
              file={file}
              chatId={chatId}
              isDisabled={isDisabled}
              onRemove={() => detach(drafts, chatId, file)}
            />
          ))}
          {uploads.map((upload) => (
            <UploadRow key={upload.key} upload={upload} queue={desk} maximumBytes={maximumBytes} />
          ))}
        </ul>
      ) : null}
      <span role="status" className="visually-hidden">
        {block === 'uploading' ? t('files.announceUploading', { count: uploads.length }) : null}
      </span>
    </>
  );
}

function Attached({
  file,
  chatId,
  isDisabled,
  onRemove,
}: {
  file: AttachedFile;
  chatId: string;
  isDisabled: boolean;
  onRemove: () => void;
}) {
  const t = useText();
  const [isBroken, setBroken] = useState(false);
  const Icon = fileIcon(file);
  return (
    <li className={classes.upload}>
      {previewKind(file) === 'image' && !isBroken ? (
        <img
          src={previewAddress({ chatId }, file.id)}
          alt=""
          className={classes.thumbnail}
          onError={() => setBroken(true)}
        />
      ) : (
        <Icon size={16} aria-hidden className={classes.icon} />
      )}
      <span className={classes.uploadText}>
        <bdi className={classes.name}>{file.filename}</bdi>
        {typeof file.source === 'string' ? <bdi className={classes.fact}>{file.source}</bdi> : null}
        <AttachedFact scope={{ chatId }} file={file} />
      </span>
      <FirstLines scope={{ chatId }} file={file} />
      <ActionIcon
        variant="subtle"
        color="gray"
        size={26}
        disabled={isDisabled}
        aria-label={t('files.detach', { name: file.filename })}
        title={t('files.detach', { name: file.filename })}
        onClick={onRemove}
      >
        <X size={14} />
      </ActionIcon>
    </li>
  );
}
