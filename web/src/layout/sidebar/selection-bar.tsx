import 'virtual:texts/conversation';
import { ActionIcon } from '@mantine/core';
import { Archive, ArchiveRestore, ListChecks, Trash2, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { Tip } from '../tip.tsx';
import classes from './selection-bar.module.css';

type Props = {
  count: number;
  isArchived: boolean;
  onAll: () => void;
  onArchive: () => void;
  onDelete: () => void;
  onClose: () => void;
};

/** Actions for the selected conversations. */
export function SelectionBar({ count, isArchived, onAll, onArchive, onDelete, onClose }: Props) {
  const t = useText();
  return (
    <div className={classes.bar} role="toolbar" aria-label={t('nav.selection')}>
      <span className={classes.count} role="status">
        {t('nav.selected', { count })}
      </span>
      <Action label={t('nav.selectAll')} onClick={onAll}>
        <ListChecks size={16} />
      </Action>
      <Action label={t(isArchived ? 'nav.restore' : 'nav.archive')} onClick={onArchive}>
        {isArchived ? <ArchiveRestore size={16} /> : <Archive size={16} />}
      </Action>
      <Action label={t('nav.delete')} onClick={onDelete}>
        <Trash2 size={16} />
      </Action>
      <Action label={t('nav.selectEnd')} onClick={onClose}>
        <X size={16} />
      </Action>
    </div>
  );
}

function Action({ label, onClick, children }: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <Tip align="end" label={label}>
      <ActionIcon variant="subtle" color="gray" size={28} aria-label={label} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tip>
  );
}
