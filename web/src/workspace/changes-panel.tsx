import './changes-texts.ts';
import '../frame/dialogs.css';
import type { ChangedFile } from '@homeport/contracts/daemon';
import { ActionIcon, Button, Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Redo2, Undo2, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { call } from '../api.ts';
import { ApiFailure } from '../api-failure.ts';
import { failureText } from '../failure-text.ts';
import fileClasses from '../files/files.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { lazyPart } from '../frame/lazy-part.tsx';
import { showFailure, showToast } from '../frame/toasts.tsx';
import { useText } from '../i18n.ts';
import classes from './changes.module.css';
import { type Answer, changesQuery } from './changes-api.ts';
import { ChangesDiff } from './changes-diff.tsx';

const ConfirmDialog = lazyPart(async () => (await import('../frame/confirm-dialog.tsx')).ConfirmDialog);

const narrow = '(max-width: 68rem)';
/** Files up to this many are opened at once. */
const openedAtOnce = 3;

type Props = Answer & { onClose: () => void };
type Wish = { direction: 'undo' | 'redo'; paths?: string[] };

/** The files that an answer changed, and the way back: a column beside the thread, a drawer on narrow screens. */
export function ChangesPanel(props: Props) {
  const t = useText();
  const isNarrow = useMediaQuery(narrow, window.matchMedia(narrow).matches, { getInitialValueInEffect: false });
  if (!isNarrow) {
    return (
      <aside className={`${fileClasses.panel} ${classes.panel}`} aria-label={t('message.changes')}>
        <Content {...props} />
      </aside>
    );
  }
  return (
    <Drawer.Root opened onClose={props.onClose} position="right" size="min(40rem, 100vw)" padding={0}>
      <Drawer.Overlay />
      <Drawer.Content aria-label={t('message.changes')}>
        <Drawer.Body className={fileClasses.drawer}>
          <Content {...props} />
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}

function Content({ chatId, messageId, onClose }: Props) {
  const t = useText();
  const title = useRef<HTMLHeadingElement>(null);
  const answer = { chatId, messageId };
  const { data, error } = useQuery(changesQuery(answer));
  const [isBeside, setBeside] = useState(false);
  const { change, asked, dismiss, isBusy } = useChange(answer);
  useEffect(() => title.current?.focus({ preventScroll: true }), [messageId]);
  const files = data?.files ?? [];
  const paths = asked?.paths.slice(0, 5).join(', ') ?? '';
  return (
    <>
      <header className={fileClasses.panelHead}>
        <h2 className={fileClasses.panelTitle} ref={title} tabIndex={-1}>
          {t('message.changes')}
        </h2>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t('app.close')}
          title={t('app.close')}
          onClick={onClose}
        >
          <X size={18} />
        </ActionIcon>
      </header>
      <div className={fileClasses.panelBody}>
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
              onClick={() => void change({ direction: 'undo' })}
            >
              {t('changes.undo')}
            </Button>
            {files.some(({ state }) => state === 'undone') ? (
              <Button
                size="compact-sm"
                variant="default"
                leftSection={<Redo2 size={15} aria-hidden />}
                disabled={isBusy}
                onClick={() => void change({ direction: 'redo' })}
              >
                {t('changes.redo')}
              </Button>
            ) : null}
          </div>
        ) : null}
        {data?.truncated ? <p className={classes.quiet}>{t('changes.more')}</p> : null}
        {data && data.left.length > 0 ? (
          <p className={classes.quiet}>{t('changes.left', { paths: data.left.map(({ path }) => path).join(', ') })}</p>
        ) : null}
        {files.map((file) => (
          <FileChange
            key={file.path}
            {...{ answer, file, isBeside, isBusy }}
            isOpen={files.length <= openedAtOnce}
            onChange={(direction) => void change({ direction, paths: [file.path] })}
          />
        ))}
      </div>
      {asked ? (
        <ConfirmDialog
          title={t('changes.forceTitle')}
          text={t('changes.forceText', { paths })}
          confirmLabel={t('changes.force')}
          onConfirm={() => void change(asked.wish, true)}
          onClose={dismiss}
        />
      ) : null}
    </>
  );
}

function FileChange({
  answer,
  file,
  isBeside,
  isBusy,
  isOpen,
  onChange,
}: {
  answer: Answer;
  file: ChangedFile;
  isBeside: boolean;
  isBusy: boolean;
  isOpen: boolean;
  onChange: (direction: Wish['direction']) => void;
}) {
  const t = useText();
  const [wasOpened, setOpened] = useState(isOpen);
  const isUndone = file.state === 'undone';
  const label = t(isUndone ? 'changes.redoFile' : 'changes.undoFile', { path: file.path });
  return (
    <details className={classes.file} open={wasOpened} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>
        <span className={classes.kind} data-kind={file.change}>
          {t(`changes.${file.change}`)}
        </span>
        <bdi className={classes.path}>{file.path}</bdi>
        {file.state === 'applied' ? null : (
          <span className={classes.state}>{t(isUndone ? 'changes.undone' : 'changes.since')}</span>
        )}
        <ActionIcon
          variant="subtle"
          color="gray"
          size={28}
          aria-label={label}
          title={label}
          disabled={isBusy}
          onClick={(event) => {
            event.preventDefault();
            onChange(isUndone ? 'redo' : 'undo');
          }}
        >
          {isUndone ? <Redo2 size={15} /> : <Undo2 size={15} />}
        </ActionIcon>
      </summary>
      {file.mixed ? <p className={classes.quiet}>{t('changes.mixed')}</p> : null}
      {wasOpened ? <ChangesDiff answer={answer} file={file} isBeside={isBeside} /> : null}
    </details>
  );
}

/** Undoes and redoes; what somebody changed since is asked about first. */
function useChange(answer: Answer) {
  const t = useText();
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [asked, setAsked] = useState<{ wish: Wish; paths: string[] }>();
  const change = async (wish: Wish, force = false): Promise<void> => {
    setBusy(true);
    setAsked(undefined);
    const { direction, paths } = wish;
    const body = { ...answer, ...(paths === undefined ? {} : { paths }), ...(force ? { force } : {}) };
    try {
      const { skipped, ...changes } = await (direction === 'undo'
        ? call('POST /api/chats/changes/undo', { body })
        : call('POST /api/chats/changes/redo', { body }));
      queries.setQueryData(changesQuery(answer).queryKey, changes);
      const left = skipped.map(({ path }) => path).slice(0, 5);
      if (left.length > 0) showToast(t('changes.skipped', { count: skipped.length, paths: left.join(', ') }));
    } catch (error) {
      const conflicts = conflictsOf(error);
      if (conflicts.length > 0) setAsked({ wish, paths: conflicts });
      else showFailure(t('changes.failed'), failureText(error, t));
    } finally {
      setBusy(false);
    }
  };
  return { change, asked, dismiss: () => setAsked(undefined), isBusy };
}

function conflictsOf(error: unknown): string[] {
  if (!(error instanceof ApiFailure) || error.code !== 'files_changed') return [];
  const paths: unknown = Reflect.get(Object(error.details), 'paths');
  return Array.isArray(paths) ? paths.map(String) : [];
}
