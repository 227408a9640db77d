import 'virtual:texts/files';
import 'virtual:texts/pages';
import type { Artifact } from '@homeport/contracts/files/artifacts';
import { Button } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { type ReactNode, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { publicConfigQuery } from '../api/queries.ts';
import { type FileScope, uploadFile } from '../api/upload.ts';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { UploadQueue } from './attachments/upload-queue.ts';
import { UploadRow } from './attachments/upload-rows.tsx';
import { type FileDialog, FileDialogs } from './file-dialogs.tsx';
import { Breadcrumb, FileRow, FolderRow } from './file-rows.tsx';
import classes from './files.module.css';
import { filesQuery } from './files-api.ts';
import { allFolders, contentOf, folderOf, joinPath } from './folders.ts';
import type { Origin } from './origin.ts';
import { SkeletonRows } from './skeleton-rows.tsx';
import { UploadPicker } from './upload-picker.tsx';
import { useFileChanges } from './use-file-changes.ts';
import { useFileDrop } from './use-file-drop.ts';

type Props = {
  scope: FileScope;
  /** False if the project or conversation is archived: nothing can be added. */
  canUpload: boolean;
  onOpen: (file: Artifact) => void;
  /** Adds a file to the message; absent if there is no message. */
  onAttach?: ((file: Artifact) => void) | undefined;
  /** False for people who may only read. */
  canEdit?: boolean;
  /** How the files came into a conversation, by their ids. */
  origins?: ReadonlyMap<string, Origin> | undefined;
  /** Shown while there are no files. */
  empty?: ReactNode;
  /** Returns, once, files to upload without being asked. */
  takeChosen?: () => readonly File[];
  onChanged?: () => void;
};

/** The files of a conversation or project, by folders. */
export function FilesView(props: Props) {
  const { scope, canUpload, onOpen, onAttach, canEdit = true, empty, origins, takeChosen, onChanged } = props;
  const t = useText();
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(text.trim(), 200);
  const [folder, setFolder] = useState('');
  const [dialog, setDialog] = useState<FileDialog>();
  const view = useRef<HTMLDivElement>(null);
  const query = useInfiniteQuery(filesQuery(scope, q));
  const changes = useFileChanges(scope, onChanged);
  const { queue, maximumBytes } = useUploads(scope, changes.refresh, folder);
  useEffect(() => {
    const chosen = takeChosen?.() ?? [];
    if (chosen.length > 0) queue.add(chosen);
  }, [takeChosen, queue]);
  const uploads = useSyncExternalStore(queue.subscribe, queue.getView);
  const files = useMemo(() => query.data?.pages.flatMap((page) => page.artifacts) ?? [], [query.data]);
  const content = useMemo(() => (q === '' ? contentOf(files, folder) : { folders: [], files }), [files, folder, q]);
  const { problem, zone } = useFileDrop((dropped) => queue.add(dropped), canUpload);
  /** The focused row is gone. */
  const afterDelete = (isDone: boolean) => isDone && view.current?.focus({ preventScroll: true });
  const isNothing = query.isSuccess && q === '' && files.length === 0 && uploads.length === 0;

  const rowProps = {
    canEdit,
    onRename: (path: string) => setDialog({ kind: 'rename', path }),
    onMove: (path: string) => setDialog({ kind: 'move', path }),
  };
  return (
    <div ref={view} tabIndex={-1} className={classes.view} {...zone}>
      <div className={classes.tools}>
        <div className={classes.search}>
          <Search size={15} aria-hidden />
          <input
            type="search"
            value={text}
            maxLength={200}
            placeholder={t('files.search')}
            aria-label={t('files.searchLabel')}
            onChange={(event) => setText(event.currentTarget.value)}
            // The list can be part of a form.
            onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
          />
        </div>
        {canUpload ? <UploadPicker label={t('files.upload')} onFiles={(chosen) => queue.add(chosen)} /> : null}
      </div>
      {problem ? (
        <p role="alert" className={classes.problem}>
          {problem}
        </p>
      ) : null}
      {uploads.length > 0 ? (
        <ul className={classes.uploads} aria-label={t('files.uploads')}>
          {uploads.map((upload) => (
            <UploadRow key={upload.key} upload={upload} queue={queue} maximumBytes={maximumBytes} />
          ))}
        </ul>
      ) : null}
      {q === '' ? <Breadcrumb folder={folder} onFolder={setFolder} /> : null}
      {query.isPending ? <SkeletonRows /> : null}
      {query.isError && files.length === 0 ? (
        <Failed failure={query.error} onRetry={() => void query.refetch()} />
      ) : null}
      {isNothing ? (empty ?? <Empty scope={scope} canUpload={canUpload} />) : null}
      {q !== '' && query.isSuccess && files.length === 0 ? (
        <p role="status" className={classes.quiet}>
          {t('files.noHits', { query: q })}
        </p>
      ) : null}
      <ul className={classes.rows} aria-label={t('files.list')}>
        {content.folders.map((each) => (
          <FolderRow
            key={each.path}
            folder={each}
            onOpen={() => setFolder(each.path)}
            onDelete={() => setDialog({ kind: 'delete-folder', path: each.path, count: each.count })}
            {...rowProps}
          />
        ))}
        {content.files.map((file) => (
          <FileRow
            key={file.id}
            file={file}
            scope={scope}
            origin={origins?.get(file.id)}
            showsFolder={q !== ''}
            onOpen={() => onOpen(file)}
            onAttach={onAttach && (() => onAttach(file))}
            onDelete={() => setDialog({ kind: 'delete', file })}
            {...rowProps}
          />
        ))}
      </ul>
      {query.hasNextPage ? (
        <Button
          size="xs"
          variant="default"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
          className={classes.more}
        >
          {t('files.more')}
        </Button>
      ) : null}
      {dialog ? (
        <FileDialogs
          dialog={dialog}
          folders={allFolders(files)}
          onMove={changes.move}
          onDeleteFile={(file) => void changes.removeFile(file).then(afterDelete)}
          onDeleteFolder={(path) => {
            if (folder === path || folder.startsWith(`${path}/`)) setFolder(folderOf(path));
            void changes.removeFolder(path).then(afterDelete);
          }}
          onClose={() => setDialog(undefined)}
        />
      ) : null}
    </div>
  );
}

function useUploads(scope: FileScope, refresh: () => Promise<void>, folder: string) {
  const { data: config } = useQuery(publicConfigQuery);
  const maximumBytes = config?.limits.artifactMaxUploadBytes ?? Number.POSITIVE_INFINITY;
  const latest = useRef({ refresh, folder, scope, maximumBytes });
  latest.current = { refresh, folder, scope, maximumBytes };
  const [queue] = useState(() => {
    /** Target folder of each file: the one that was open when the file was chosen. */
    const folders = new WeakMap<File, string>();
    return new UploadQueue({
      upload: (file, options) => {
        const path = joinPath(folders.get(file) ?? '', file.name);
        return uploadFile(file, { scope: latest.current.scope, path }, options);
      },
      onDone: () => void latest.current.refresh(),
      refuse: (file) => {
        folders.set(file, latest.current.folder);
        return file.size > latest.current.maximumBytes ? 'too-large' : undefined;
      },
    });
  });
  return { queue, maximumBytes };
}

function Empty({ scope, canUpload }: Pick<Props, 'scope' | 'canUpload'>) {
  const t = useText();
  const hint = scope.projectId === undefined ? 'files.emptyText' : 'files.emptyProject';
  return (
    <div className={classes.empty}>
      <p className={classes.emptyTitle}>{t('files.emptyTitle')}</p>
      <p>{t(canUpload ? hint : 'files.emptyArchived')}</p>
    </div>
  );
}

function Failed({ failure, onRetry }: { failure: unknown; onRetry: () => void }) {
  const t = useText();
  return (
    <>
      <FormFailure failure={failure} />
      <Button size="xs" variant="default" onClick={onRetry}>
        {t('app.retry')}
      </Button>
    </>
  );
}
