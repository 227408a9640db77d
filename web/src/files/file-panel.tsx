import 'virtual:texts/files';
import 'virtual:texts/pages';
import type { Artifact, ArtifactVersion } from '@homeport/contracts/files/artifacts';
import { ActionIcon, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft, Download, Paperclip } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { ApiFailure } from '../api/api-failure.ts';
import type { FileScope } from '../api/upload.ts';
import { FormFailure } from '../forms/notice.tsx';
import { dateLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { SidePanel } from '../layout/panel/side-panel.tsx';
import { type Citation, citedFileQuery, pageChoice } from './citations.ts';
import { downloadAddress } from './file-address.ts';
import { FileShareButton } from './file-share-button.tsx';
import { OlderNotice, VersionMenu } from './file-versions.tsx';
import classes from './files.module.css';
import { fileQuery } from './files-api.ts';
import { FilesView } from './files-view.tsx';
import type { Origin } from './origin.ts';
import type { PageChoice } from './preview/document-query.ts';
import { formatSize } from './preview/file-look.ts';
import { FilePreview } from './preview/file-preview.tsx';

export type PanelProps = {
  scope: FileScope;
  /** The file being shown; undefined shows the list. */
  fileId: string | undefined;
  /** A file and page that an answer cites; the file may also be the project's. */
  cited?: Citation;
  canUpload: boolean;
  /** How the files came into a conversation. */
  origins?: ReadonlyMap<string, Origin>;
  /** Shown instead of the notice that there are no files, and below the list. */
  empty?: ReactNode;
  below?: ReactNode;
  onFile: (id: string | undefined) => void;
  onAttach?: ((file: Artifact) => void) | undefined;
  /** Puts a request to the model into the draft. */
  onFix?: ((request: string) => void) | undefined;
  onClose: () => void;
};

/** The files beside a conversation or project. */
export function FilePanel({ scope, fileId, cited, onFile, onAttach, onFix, onClose, below, ...list }: PanelProps) {
  const t = useText();
  const subject = cited ? `${cited.name} ${cited.at}` : fileId;
  const toAll = (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={t('files.all')}
      title={t('files.all')}
      onClick={() => onFile(undefined)}
    >
      <ArrowLeft size={18} />
    </ActionIcon>
  );
  return (
    <SidePanel
      label={t('files.title')}
      heading={t(subject === undefined ? 'files.title' : 'files.file')}
      subject={subject}
      closeLabel={t('files.close')}
      before={subject === undefined ? null : toAll}
      onClose={onClose}
    >
      {cited ? (
        <CitedFile key={subject} scope={scope} cited={cited} onAttach={onAttach} onFix={onFix} />
      ) : fileId === undefined ? (
        <>
          <FilesView scope={scope} {...list} onOpen={({ id }) => onFile(id)} onAttach={onAttach} />
          {below}
        </>
      ) : (
        <OneFile key={fileId} scope={scope} id={fileId} onAttach={onAttach} onFix={onFix} />
      )}
    </SidePanel>
  );
}

function CitedFile({
  scope,
  cited,
  onAttach,
  onFix,
}: {
  scope: FileScope;
  cited: Citation;
  onAttach: PanelProps['onAttach'];
  onFix: PanelProps['onFix'];
}) {
  const t = useText();
  const { data: found, error } = useQuery(citedFileQuery(scope, cited));
  if (error) return <FormFailure failure={error} />;
  if (found === undefined) return <div className={classes.bone} aria-busy="true" />;
  if (found === null) {
    return (
      <div className={classes.empty}>
        <p className={classes.emptyTitle}>{t('files.noCitedTitle')}</p>
        <p>{t('files.noCitedText', { name: cited.name })}</p>
      </div>
    );
  }
  const isOwn = found.scope.chatId !== undefined;
  return (
    <OneFile
      scope={found.scope}
      id={found.id}
      at={pageChoice(cited.at)}
      onAttach={isOwn ? onAttach : undefined}
      onFix={onFix}
    />
  );
}

function OneFile({
  scope,
  id,
  at,
  onAttach,
  onFix,
}: {
  scope: FileScope;
  id: string;
  at?: PageChoice;
  onAttach: PanelProps['onAttach'];
  onFix: PanelProps['onFix'];
}) {
  const t = useText();
  const { data: file, error } = useQuery(fileQuery(scope, id));
  const [version, setVersion] = useState<ArtifactVersion>();
  if (error instanceof ApiFailure && error.code === 'not_found') {
    return (
      <div className={classes.empty}>
        <p className={classes.emptyTitle}>{t('files.goneTitle')}</p>
        <p>{t('files.goneText')}</p>
      </div>
    );
  }
  if (error && !file) return <FormFailure failure={error} />;
  if (!file) return <div className={classes.bone} aria-busy="true" />;
  const dates = new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' });
  const older = version?.version === file.version ? undefined : version;
  const shown: Artifact = older ? { ...file, ...older } : file;
  return (
    <article className={classes.one}>
      <h3 className={classes.oneName}>
        <bdi>{file.filename}</bdi>
      </h3>
      <p className={classes.fact}>
        {[formatSize(shown.size), shown.mediaType, dates.format(new Date(shown.createdAt))].join(' ·\u00a0')}
      </p>
      {file.path === file.filename ? null : <p className={classes.fact}>{file.path}</p>}
      <div className={classes.oneActions}>
        <Button
          component="a"
          href={downloadAddress(scope, file.id, older?.version)}
          download={file.filename}
          size="xs"
          variant="default"
          leftSection={<Download size={15} aria-hidden />}
        >
          {t('files.download')}
        </Button>
        <VersionMenu scope={scope} file={file} shown={shown.version} onChoose={setVersion} />
        {older || scope.assistantId !== undefined ? null : <FileShareButton file={file} />}
        {onAttach && !older ? (
          <Button
            size="xs"
            variant="default"
            leftSection={<Paperclip size={15} aria-hidden />}
            onClick={() => onAttach(file)}
          >
            {t('files.attach')}
          </Button>
        ) : null}
      </div>
      {older ? <OlderNotice scope={scope} file={file} version={older} onCurrent={() => setVersion(undefined)} /> : null}
      <FilePreview scope={scope} file={shown} version={older?.version} at={at} onFix={older ? undefined : onFix} />
    </article>
  );
}
