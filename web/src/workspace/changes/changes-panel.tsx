import 'virtual:texts/changes';
import type { ChangedFile } from '@homeport/contracts/workspace/daemon';
import { ActionIcon, Button, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ChevronRight, Redo2, Undo2 } from 'lucide-react';
import { useState } from 'react';
import fileClasses from '../../files/files.module.css';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { SidePanel } from '../../layout/panel/side-panel.tsx';
import classes from './changes.module.css';
import { type Answer, type ChangeRequest, changesQuery, shortList } from './changes-api.ts';
import { ChangesDiff } from './changes-diff.tsx';
import { useChange } from './use-change.tsx';

/** Up to this many files are unfolded initially. */
const openedAtOnce = 3;

type Props = Answer & { onClose: () => void };

/** The files that an answer changed, and the way back. */
export function ChangesPanel({ chatId, messageId, onClose }: Props) {
  const t = useText();
  const answer = { chatId, messageId };
  const { data, error } = useQuery(changesQuery(answer));
  const [isBeside, setBeside] = useState(false);
  // State lives here, because the panel's content is remounted when the window becomes narrow.
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const { change, isBusy, dialog } = useChange(answer);
  const files = data?.files ?? [];
  return (
    <>
      <SidePanel label={t('message.changes')} subject={messageId} closeLabel={t('app.close')} isWide onClose={onClose}>
        {error && !data ? <FormFailure failure={error} /> : null}
        {!error && !data ? <div className={fileClasses.bone} aria-busy="true" /> : null}
        {data && files.length === 0 ? (
          <div className={fileClasses.empty}>
            <p className={fileClasses.emptyTitle}>{t('changes.noneTitle')}</p>
            <p>{t('changes.noneText')}</p>
          </div>
        ) : null}
        {files.length > 0 ? (
          <div className={classes.bar}>
            <span className={classes.count}>{t('changes.count', { count: files.length })}</span>
            <Button size="compact-sm" variant="subtle" color="gray" onClick={() => setBeside(!isBeside)}>
              {t(isBeside ? 'changes.inLine' : 'changes.sideBySide')}
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<Undo2 size={15} aria-hidden />}
              disabled={isBusy || files.every(({ state }) => state === 'undone')}
              onClick={() => change({ direction: 'undo' })}
            >
              {t('changes.undo')}
            </Button>
            {files.some(({ state }) => state === 'undone') ? (
              <Button
                size="compact-sm"
                variant="default"
                leftSection={<Redo2 size={15} aria-hidden />}
                disabled={isBusy}
                onClick={() => change({ direction: 'redo' })}
              >
                {t('changes.redo')}
              </Button>
            ) : null}
          </div>
        ) : null}
        {data?.truncated ? <p className={classes.quiet}>{t('changes.more')}</p> : null}
        {data && data.left.length > 0 ? (
          <p className={classes.quiet}>{t('changes.left', { paths: shortList(data.left.map(({ path }) => path)) })}</p>
        ) : null}
        <ul className={classes.files}>
          {files.map((file) => (
            <FileChange
              key={file.path}
              answer={answer}
              file={file}
              isBeside={isBeside}
              isBusy={isBusy}
              isOpen={files.length <= openedAtOnce !== toggled.has(file.path)}
              onToggle={() => setToggled(withOrWithout(toggled, file.path))}
              onChange={(direction) => change({ direction, paths: [file.path] })}
            />
          ))}
        </ul>
      </SidePanel>
      {dialog}
    </>
  );
}

function FileChange({
  answer,
  file,
  isBeside,
  isBusy,
  isOpen,
  onToggle,
  onChange,
}: {
  answer: Answer;
  file: ChangedFile;
  isBeside: boolean;
  isBusy: boolean;
  isOpen: boolean;
  onToggle: () => void;
  onChange: (direction: ChangeRequest['direction']) => void;
}) {
  const t = useText();
  const isUndone = file.state === 'undone';
  const label = t(isUndone ? 'changes.redoFile' : 'changes.undoFile', { path: file.path });
  return (
    <li className={classes.file}>
      <div className={classes.fileHead}>
        <UnstyledButton className={classes.opener} aria-expanded={isOpen} onClick={onToggle}>
          <ChevronRight size={15} aria-hidden />
          <span className={classes.kind} data-kind={file.change}>
            {t(`changes.${file.change}`)}
          </span>
          <bdi className={classes.path}>{file.path}</bdi>
          {file.state === 'applied' ? null : (
            <span className={classes.state}>{t(isUndone ? 'changes.undone' : 'changes.since')}</span>
          )}
        </UnstyledButton>
        {file.lines ? (
          <span className={classes.counts}>
            <span className={classes.gained}>{t('changes.linesAdded', { count: file.lines.added })}</span>{' '}
            <span className={classes.lost}>{t('changes.linesRemoved', { count: file.lines.removed })}</span>
          </span>
        ) : null}
        <ActionIcon
          variant="subtle"
          color="gray"
          size={28}
          aria-label={label}
          title={label}
          disabled={isBusy}
          onClick={() => onChange(isUndone ? 'redo' : 'undo')}
        >
          {isUndone ? <Redo2 size={15} /> : <Undo2 size={15} />}
        </ActionIcon>
      </div>
      {file.mixed ? <p className={classes.quiet}>{t('changes.mixed')}</p> : null}
      {isOpen ? <ChangesDiff answer={answer} file={file} isBeside={isBeside} /> : null}
    </li>
  );
}

function withOrWithout(paths: ReadonlySet<string>, path: string): ReadonlySet<string> {
  const changed = new Set(paths);
  if (!changed.delete(path)) changed.add(path);
  return changed;
}
