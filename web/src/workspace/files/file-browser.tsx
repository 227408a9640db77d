import type { WorkspaceEntry, WorkspaceListing } from '@homeport/contracts/workspace/daemon';
import { ActionIcon, Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Eye, EyeOff, FolderPlus, RefreshCw } from 'lucide-react';
import { useRef, useState, useSyncExternalStore } from 'react';
import { ApiFailure } from '../../api/api-failure.ts';
import { UploadRow } from '../../files/attachments/upload-rows.tsx';
import fileClasses from '../../files/files.module.css';
import { SkeletonRows } from '../../files/skeleton-rows.tsx';
import { UploadPicker } from '../../files/upload-picker.tsx';
import { useFileDrop } from '../../files/use-file-drop.ts';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../layout/dialogs/confirm-dialog.tsx';
import classes from '../workspace.module.css';
import { EntryList } from './entry-list.tsx';
import { FileView } from './file-view.tsx';
import { NameForm } from './name-form.tsx';
import { crumbsOf, home, joinPath, nameOf } from './paths.ts';
import { useWorkspaceUploads } from './use-workspace-uploads.ts';
import { joinPages, placeQuery, useWorkspaceFiles } from './workspace-files.ts';

/** A running workspace's files: one folder at a time, or one file. */
export function FileBrowser({ path, onPath }: { path: string; onPath: (path: string) => void }) {
  const query = useInfiniteQuery(placeQuery(path));
  const changes = useWorkspaceFiles();
  const place = query.data ? joinPages(query.data.pages) : undefined;
  return (
    <div className={classes.browser}>
      <Crumbs path={path} onPath={onPath} />
      {query.isPending ? <SkeletonRows /> : null}
      {query.error && !place ? (
        <Failed path={path} failure={query.error} onHome={() => onPath(home)} onRetry={() => void query.refetch()} />
      ) : null}
      {place?.type === 'file' ? <FileView file={place} /> : null}
      {place?.type === 'directory' ? (
        <Folder
          key={path}
          folder={place}
          changes={changes}
          isRefreshing={query.isRefetching}
          onRefresh={() => void query.refetch()}
          onPath={onPath}
          more={
            query.hasNextPage ? { isBusy: query.isFetchingNextPage, load: () => void query.fetchNextPage() } : undefined
          }
        />
      ) : null}
    </div>
  );
}

function Crumbs({ path, onPath }: { path: string; onPath: (path: string) => void }) {
  const t = useText();
  return (
    <nav aria-label={t('workspace.folder')} className={fileClasses.crumbs}>
      <ol>
        {crumbsOf(path).map((crumb) => {
          const label = crumb.path === home ? t('workspace.top') : crumb.name;
          return (
            <li key={crumb.path}>
              {crumb.path === path ? (
                <span aria-current="page">
                  <bdi>{label}</bdi>
                </span>
              ) : (
                <button type="button" onClick={() => onPath(crumb.path)}>
                  <bdi>{label}</bdi>
                </button>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

type FolderProps = {
  folder: WorkspaceListing;
  changes: ReturnType<typeof useWorkspaceFiles>;
  isRefreshing: boolean;
  onRefresh: () => void;
  onPath: (path: string) => void;
  more: { isBusy: boolean; load: () => void } | undefined;
};

function Folder({ folder, changes, isRefreshing, onRefresh, onPath, more }: FolderProps) {
  const t = useText();
  const [isNaming, setNaming] = useState(false);
  const [showsHidden, setShowsHidden] = useState(false);
  const [deleting, setDeleting] = useState<WorkspaceEntry>();
  const view = useRef<HTMLDivElement>(null);
  const { queue, maximumBytes } = useWorkspaceUploads(folder.path, changes.refresh);
  const uploads = useSyncExternalStore(queue.subscribe, queue.getView);
  // Dotfiles are hidden by default, as in file managers.
  const shown = folder.entries.filter(({ name }) => showsHidden || !name.startsWith('.'));
  const hasHidden = folder.entries.some(({ name }) => name.startsWith('.'));
  const { isOver, problem, zone } = useFileDrop((files) => queue.add(files));
  return (
    <div ref={view} tabIndex={-1} className={fileClasses.view} {...zone}>
      <div className={classes.tools}>
        <UploadPicker label={t('workspace.upload')} onFiles={(files) => queue.add(files)} />
        <Button
          size="xs"
          variant="default"
          leftSection={<FolderPlus size={15} aria-hidden />}
          onClick={() => setNaming(true)}
        >
          {t('workspace.newFolder')}
        </Button>
        <span className={classes.toolIcons}>
          {hasHidden ? (
            <ActionIcon
              variant="subtle"
              color="gray"
              size={30}
              aria-label={t('workspace.hidden')}
              title={t('workspace.hidden')}
              aria-pressed={showsHidden}
              onClick={() => setShowsHidden(!showsHidden)}
            >
              {showsHidden ? <Eye size={15} /> : <EyeOff size={15} />}
            </ActionIcon>
          ) : null}
          <ActionIcon
            variant="subtle"
            color="gray"
            size={30}
            className={classes.refresh}
            aria-label={t('workspace.refresh')}
            title={t('workspace.refresh')}
            data-busy={isRefreshing || undefined}
            onClick={onRefresh}
          >
            <RefreshCw size={15} />
          </ActionIcon>
        </span>
      </div>
      {isOver ? (
        <p className={classes.dropHint}>
          {t('workspace.dropHere', { folder: folder.path === home ? t('workspace.top') : nameOf(folder.path) })}
        </p>
      ) : null}
      {problem ? (
        <p role="alert" className={fileClasses.problem}>
          {problem}
        </p>
      ) : null}
      {uploads.length > 0 ? (
        <ul className={fileClasses.uploads} aria-label={t('files.uploads')}>
          {uploads.map((upload) => (
            <UploadRow key={upload.key} upload={upload} queue={queue} maximumBytes={maximumBytes} />
          ))}
        </ul>
      ) : null}
      {isNaming ? (
        <NameForm
          label={t('workspace.newFolderName')}
          action={t('workspace.create')}
          name=""
          onName={(name) => changes.makeFolder(joinPath(folder.path, name))}
          onClose={() => setNaming(false)}
        />
      ) : null}
      {shown.length === 0 && uploads.length === 0 && !isNaming ? <Empty /> : null}
      <EntryList entries={shown} folder={folder.path} onPath={onPath} onMove={changes.move} onDelete={setDeleting} />
      {more ? (
        <Button size="xs" variant="default" loading={more.isBusy} onClick={more.load} className={fileClasses.more}>
          {t('files.more')}
        </Button>
      ) : null}
      {deleting ? (
        <ConfirmDialog
          title={t(deleting.type === 'directory' ? 'files.deleteFolderTitle' : 'files.deleteTitle', {
            name: deleting.name,
          })}
          text={t(deleting.type === 'directory' ? 'workspace.deleteFolderText' : 'workspace.deleteText')}
          confirmLabel={t(deleting.type === 'directory' ? 'files.deleteFolderConfirm' : 'files.deleteConfirm')}
          onConfirm={() => {
            setDeleting(undefined);
            // The focused row is about to disappear.
            void changes.remove(deleting.path).then((isDone) => isDone && view.current?.focus({ preventScroll: true }));
          }}
          onClose={() => setDeleting(undefined)}
        />
      ) : null}
    </div>
  );
}

function Empty() {
  const t = useText();
  return (
    <div className={fileClasses.empty}>
      <p className={fileClasses.emptyTitle}>{t('workspace.emptyTitle')}</p>
      <p>{t('workspace.emptyText')}</p>
    </div>
  );
}

function Failed({
  path,
  failure,
  onHome,
  onRetry,
}: {
  path: string;
  failure: unknown;
  onHome: () => void;
  onRetry: () => void;
}) {
  const t = useText();
  const isGone = failure instanceof ApiFailure && failure.code === 'not_found';
  return (
    <div className={classes.failed}>
      {isGone ? <p role="status">{t('workspace.gone', { path })}</p> : <FormFailure failure={failure} />}
      <Button size="xs" variant="default" onClick={isGone ? onHome : onRetry}>
        {t(isGone ? 'workspace.goHome' : 'app.retry')}
      </Button>
    </div>
  );
}
