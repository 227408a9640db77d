import type { WorkspaceEntry } from '@homeport/contracts/workspace/daemon';
import { ActionIcon, Menu } from '@mantine/core';
import {
  ClipboardCopy,
  CornerUpRight,
  Download,
  Ellipsis,
  FolderArchive,
  Folder as FolderIcon,
  FolderInput,
  PencilLine,
  Trash2,
} from 'lucide-react';
import { type KeyboardEvent, useCallback, useRef, useState } from 'react';
import { copyText } from '../../clipboard.ts';
import fileClasses from '../../files/files.module.css';
import { PathDialog } from '../../files/path-dialog.tsx';
import { fileIcon } from '../../files/preview/file-kind.ts';
import { formatSize } from '../../files/preview/file-look.ts';
import { dateLocale } from '../../i18n/format-locale.ts';
import { useText } from '../../i18n/i18n.ts';
import { AnchoredMenu } from '../../layout/menus/anchored-menu.tsx';
import { showToast } from '../../layout/toasts.tsx';
import { NameForm } from './name-form.tsx';
import { home, joinPath, parentOf } from './paths.ts';
import { downloadAddress } from './workspace-files.ts';

type Props = {
  entries: readonly WorkspaceEntry[];
  folder: string;
  onPath: (path: string) => void;
  /** Throws the server's refusal. */
  onMove: (from: string, to: string) => Promise<void>;
  onDelete: (entry: WorkspaceEntry) => void;
};

/** A folder's entries. Arrow keys move, Enter opens, Backspace goes up, F2 renames, Delete asks before deleting. */
export function EntryList({ entries, folder, onPath, onMove, onDelete }: Props) {
  const t = useText();
  const list = useRef<HTMLUListElement>(null);
  const [current, setCurrent] = useState<string>();
  const [renamed, setRenamed] = useState<string>();
  const [moved, setMoved] = useState<WorkspaceEntry>();
  const [menu, setMenu] = useState<{ entry: WorkspaceEntry; button: HTMLElement }>();
  const closeMenu = useCallback(() => {
    menu?.button.focus({ preventScroll: true });
    setMenu(undefined);
  }, [menu]);
  const reachable = entries.some(({ path }) => path === current) ? current : entries[0]?.path;
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || event.altKey || event.ctrlKey || event.metaKey) return;
    const row = event.target.closest<HTMLElement>('[data-entry]');
    const at = entries.findIndex(({ path }) => path === row?.dataset.entry);
    const entry = entries[at];
    if (!entry || event.target.closest('form')) return;
    const act = keyAction(event.key, at, entries.length);
    if (act === undefined) return;
    event.preventDefault();
    if (typeof act === 'number') focusEntry(list.current, entries[act]?.path);
    else if (act === 'up' && folder !== home) onPath(parentOf(folder));
    else if (act === 'rename') setRenamed(entry.path);
    else if (act === 'delete') onDelete(entry);
  };
  const endRename = () => {
    const path = renamed;
    setRenamed(undefined);
    requestAnimationFrame(() => focusEntry(list.current, path));
  };
  return (
    <ul ref={list} className={fileClasses.rows} aria-label={t('workspace.list')} onKeyDown={onKeyDown}>
      {entries.map((entry) =>
        entry.path === renamed ? (
          <li key={entry.path}>
            <NameForm
              label={t('workspace.newName', { name: entry.name })}
              action={t('workspace.save')}
              name={entry.name}
              onName={(name) => onMove(entry.path, joinPath(folder, name))}
              onClose={endRename}
            />
          </li>
        ) : (
          <EntryRow
            key={entry.path}
            entry={entry}
            isReachable={entry.path === reachable}
            isMenuOpen={menu?.entry.path === entry.path}
            onOpen={() => onPath(entry.path)}
            onFocus={() => setCurrent(entry.path)}
            onMenu={(button) => setMenu({ entry, button })}
          />
        ),
      )}
      {menu ? (
        <AnchoredMenu
          button={menu.button}
          onClose={closeMenu}
          label={t('files.actions', { name: menu.entry.name })}
          position="bottom-end"
          width={220}
        >
          <EntryMenu
            entry={menu.entry}
            onRename={() => setRenamed(menu.entry.path)}
            onMove={() => setMoved(menu.entry)}
            onDelete={() => onDelete(menu.entry)}
          />
        </AnchoredMenu>
      ) : null}
      {moved ? (
        <PathDialog
          kind="move"
          path={moved.path.slice(home.length + 1)}
          folders={entries.flatMap(({ type, path }) =>
            type === 'directory' && path !== moved.path ? [path.slice(home.length + 1)] : [],
          )}
          onMove={(to) => onMove(moved.path, joinPath(home, to))}
          onClose={() => setMoved(undefined)}
        />
      ) : null}
    </ul>
  );
}

function keyAction(key: string, at: number, count: number): number | 'up' | 'rename' | 'delete' | undefined {
  if (key === 'ArrowDown') return Math.min(at + 1, count - 1);
  if (key === 'ArrowUp') return Math.max(at - 1, 0);
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  if (key === 'Backspace') return 'up';
  if (key === 'F2') return 'rename';
  return key === 'Delete' ? 'delete' : undefined;
}

function focusEntry(list: HTMLElement | null, path: string | undefined): void {
  if (path === undefined) return;
  list?.querySelector<HTMLElement>(`[data-entry="${CSS.escape(path)}"] > button`)?.focus();
}

function EntryRow({
  entry,
  isReachable,
  isMenuOpen,
  onOpen,
  onFocus,
  onMenu,
}: {
  entry: WorkspaceEntry;
  isReachable: boolean;
  isMenuOpen: boolean;
  onOpen: () => void;
  onFocus: () => void;
  onMenu: (button: HTMLElement) => void;
}) {
  const t = useText();
  const { name, type, size, modifiedAt } = entry;
  const Icon = iconOf(entry);
  const at = new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' });
  const facts = [
    ...(type === 'symlink' ? [t('workspace.link')] : []),
    ...(type === 'file' ? [formatSize(size)] : []),
    at.format(new Date(modifiedAt)),
  ];
  return (
    <li className={fileClasses.row} data-entry={entry.path} onFocus={onFocus}>
      <button type="button" className={fileClasses.open} tabIndex={isReachable ? 0 : -1} onClick={onOpen}>
        <Icon size={17} aria-hidden className={fileClasses.icon} />
        <span className={fileClasses.rowText}>
          <bdi className={fileClasses.name} title={name}>
            {name}
          </bdi>
          <span className={fileClasses.fact}>{facts.join(' ·\u00a0')}</span>
        </span>
      </button>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={30}
        tabIndex={isReachable ? 0 : -1}
        aria-label={t('files.actions', { name })}
        aria-haspopup="menu"
        aria-expanded={isMenuOpen}
        onClick={(event) => onMenu(event.currentTarget)}
      >
        <Ellipsis size={16} />
      </ActionIcon>
    </li>
  );
}

function iconOf({ type, name }: WorkspaceEntry) {
  if (type === 'directory') return FolderIcon;
  if (type === 'symlink') return CornerUpRight;
  return fileIcon({ filename: name, mediaType: '' });
}

function EntryMenu({
  entry,
  onRename,
  onMove,
  onDelete,
}: {
  entry: WorkspaceEntry;
  onRename: () => void;
  onMove: () => void;
  onDelete: () => void;
}) {
  const t = useText();
  const isFolder = entry.type === 'directory';
  const copy = () => void copyText(entry.path).then((isDone) => isDone && showToast(t('workspace.pathCopied')));
  return (
    <>
      <Menu.Item
        component="a"
        href={downloadAddress(entry.path)}
        download={isFolder ? `${entry.name}.zip` : entry.name}
        leftSection={isFolder ? <FolderArchive size={15} /> : <Download size={15} />}
      >
        {t(isFolder ? 'workspace.downloadZip' : 'files.download')}
      </Menu.Item>
      <Menu.Item leftSection={<ClipboardCopy size={15} />} onClick={copy}>
        {t('workspace.copyPath')}
      </Menu.Item>
      <Menu.Divider />
      <Menu.Item leftSection={<PencilLine size={15} />} onClick={onRename}>
        {t('files.rename')}
      </Menu.Item>
      <Menu.Item leftSection={<FolderInput size={15} />} onClick={onMove}>
        {t('files.moveTo')}
      </Menu.Item>
      <Menu.Divider />
      <Menu.Item color="var(--text-danger)" leftSection={<Trash2 size={15} />} onClick={onDelete}>
        {t('files.delete')}
      </Menu.Item>
    </>
  );
}
