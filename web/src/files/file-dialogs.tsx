import type { Artifact } from '@homeport/contracts/files/artifacts';
import { useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { PathDialog } from './path-dialog.tsx';

/** The open dialog of a list of files. */
export type FileDialog =
  | { kind: 'rename' | 'move'; path: string }
  | { kind: 'delete'; file: Artifact }
  | { kind: 'delete-folder'; path: string; count: number };

type Props = {
  dialog: FileDialog;
  /** Paths of all folders. */
  folders: readonly string[];
  onMove: (from: string, to: string) => Promise<void>;
  onDeleteFile: (file: Artifact) => void;
  onDeleteFolder: (path: string) => void;
  onClose: () => void;
};

/** Renames or moves a file or folder, or asks before it is deleted. */
export function FileDialogs({ dialog, folders, onMove, onDeleteFile, onDeleteFolder, onClose }: Props) {
  const t = useText();
  if (dialog.kind === 'delete') {
    return (
      <ConfirmDialog
        title={t('files.deleteTitle', { name: dialog.file.filename })}
        text={t('files.deleteText')}
        confirmLabel={t('files.deleteConfirm')}
        onConfirm={() => {
          onClose();
          onDeleteFile(dialog.file);
        }}
        onClose={onClose}
      />
    );
  }
  if (dialog.kind === 'delete-folder') {
    return (
      <ConfirmDialog
        title={t('files.deleteFolderTitle', { name: dialog.path })}
        text={t('files.deleteFolderText', { count: dialog.count })}
        confirmLabel={t('files.deleteFolderConfirm')}
        onConfirm={() => {
          onClose();
          onDeleteFolder(dialog.path);
        }}
        onClose={onClose}
      />
    );
  }
  return (
    <PathDialog
      kind={dialog.kind}
      path={dialog.path}
      folders={folders.filter((each) => each !== dialog.path && !each.startsWith(`${dialog.path}/`))}
      onMove={(to) => onMove(dialog.path, to)}
      onClose={onClose}
    />
  );
}
