import type { Artifact } from '@homeport/contracts/files/artifacts';
import { ActionIcon, Menu } from '@mantine/core';
import { Download, Ellipsis, Folder as FolderIcon, FolderInput, Paperclip, PencilLine, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { FileScope } from '../api/upload.ts';
import { dateLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { downloadAddress } from './file-address.ts';
import classes from './files.module.css';
import { type Folder, folderOf } from './folders.ts';
import type { Origin } from './origin.ts';
import { fileIcon } from './preview/file-kind.ts';
import { formatSize } from './preview/file-look.ts';

type Moves = {
  /** False for people who may only read. */
  canEdit: boolean;
  onRename: (path: string) => void;
  onMove: (path: string) => void;
  onDelete: () => void;
};

export function FolderRow({ folder, onOpen, ...moves }: Moves & { folder: Folder; onOpen: () => void }) {
  const t = useText();
  return (
    <li className={classes.row}>
      <button type="button" className={classes.open} onClick={onOpen}>
        <FolderIcon size={17} aria-hidden className={classes.icon} />
        <span className={classes.rowText}>
          <bdi className={classes.name}>{folder.name}</bdi>
          <span className={classes.fact}>{t('files.count', { count: folder.count })}</span>
        </span>
      </button>
      {moves.canEdit ? <Actions name={folder.name} path={folder.path} {...moves} /> : null}
    </li>
  );
}

export function FileRow({
  file,
  scope,
  origin,
  showsFolder,
  onOpen,
  onAttach,
  ...moves
}: Moves & {
  file: Artifact;
  scope: FileScope;
  origin?: Origin | undefined;
  showsFolder: boolean;
  onOpen: () => void;
  onAttach?: (() => void) | undefined;
}) {
  const t = useText();
  const Icon = fileIcon(file);
  const at = new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium' }).format(new Date(file.createdAt));
  const folder = folderOf(file.path);
  return (
    <li className={classes.row}>
      <button type="button" className={classes.open} onClick={onOpen}>
        <Icon size={17} aria-hidden className={classes.icon} />
        <span className={classes.rowText}>
          <bdi className={classes.name}>{file.filename}</bdi>
          <span className={classes.fact}>
            {[
              ...(showsFolder && folder !== '' ? [folder] : []),
              formatSize(file.size),
              at,
              ...(origin ? [t(`files.origin.${origin}`)] : []),
            ].join(' ·\u00a0')}
          </span>
        </span>
      </button>
      <Actions name={file.filename} path={file.path} {...moves}>
        {onAttach ? (
          <Menu.Item leftSection={<Paperclip size={15} />} onClick={onAttach}>
            {t('files.attach')}
          </Menu.Item>
        ) : null}
        <Menu.Item
          component="a"
          href={downloadAddress(scope, file.id)}
          download={file.filename}
          leftSection={<Download size={15} />}
        >
          {t('files.download')}
        </Menu.Item>
      </Actions>
    </li>
  );
}

function Actions({
  name,
  path,
  canEdit,
  onRename,
  onMove,
  onDelete,
  children,
}: Moves & { name: string; path: string; children?: ReactNode }) {
  const t = useText();
  return (
    <Menu position="bottom-end" width={212}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={30} aria-label={t('files.actions', { name })}>
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {children}
        {canEdit ? (
          <>
            <Menu.Item leftSection={<PencilLine size={15} />} onClick={() => onRename(path)}>
              {t('files.rename')}
            </Menu.Item>
            <Menu.Item leftSection={<FolderInput size={15} />} onClick={() => onMove(path)}>
              {t('files.moveTo')}
            </Menu.Item>
            <Menu.Divider />
            <Menu.Item color="var(--text-danger)" leftSection={<Trash2 size={15} />} onClick={onDelete}>
              {t('files.delete')}
            </Menu.Item>
          </>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The current folder, and the way up. */
export function Breadcrumb({ folder, onFolder }: { folder: string; onFolder: (folder: string) => void }) {
  const t = useText();
  if (folder === '') return null;
  const parts = folder.split('/');
  return (
    <nav aria-label={t('files.path')} className={classes.crumbs}>
      <ol>
        <li>
          <button type="button" onClick={() => onFolder('')}>
            {t('files.top')}
          </button>
        </li>
        {parts.map((part, index) => {
          const path = parts.slice(0, index + 1).join('/');
          return (
            <li key={path}>
              {path === folder ? (
                <span aria-current="page">{part}</span>
              ) : (
                <button type="button" onClick={() => onFolder(path)}>
                  {part}
                </button>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
