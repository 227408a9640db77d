import 'virtual:texts/changes';
import '../../layout/dialogs/dialogs.css';
import { Button, Modal } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { ApiFailure } from '../../api/api-failure.ts';
import { FormFailure } from '../../forms/notice.tsx';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import dialogClasses from '../../layout/dialogs/confirm-dialog.module.css';
import { useReturnFocus } from '../../layout/dialogs/use-return-focus.ts';
import { showFailure, showToast } from '../../layout/toasts.tsx';
import { useIsSlow } from '../../layout/use-is-slow.ts';
import { AnswersUndo, filesToUndo } from './answers-undo.ts';
import { type Changes, changesQuery, changeWorkspace, shortList } from './changes-api.ts';

type Props = {
  chatId: string;
  /** The answers that are about to be replaced, newest first. */
  messageIds: readonly string[];
  onContinue: () => void;
  onCancel: () => void;
};

/** Before answers are replaced: offers to take back what they changed in the workspace. Not shown without changes. */
export function UndoAnswersDialog({ chatId, messageIds, onContinue, onCancel }: Props) {
  const t = useText();
  useReturnFocus();
  const isSlow = useIsSlow();
  const { changes, failure } = useChangesOf(chatId, messageIds, onContinue);
  const { undo, leave, conflicts, isBusy, error } = useTakingBack(chatId, messageIds);
  const paths = filesToUndo(changes ?? []);
  const isKnown = changes !== undefined;
  if (!isKnown && failure === undefined && !isSlow) return null;
  const keep = () => void leave().then((isLeft) => isLeft && onContinue());
  const cancel = () => void leave().then((isLeft) => isLeft && onCancel());
  const askedOnce = conflicts.length > 0;
  const problem = error ?? failure;
  return (
    <Modal.Root opened onClose={isBusy ? () => undefined : cancel} size="md">
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Modal.Title className={dialogClasses.title}>
            {t(askedOnce ? 'changes.forceTitle' : 'changes.takeBackTitle')}
          </Modal.Title>
          {askedOnce ? (
            <p className={dialogClasses.text}>{t('changes.forceText', { paths: shortList(conflicts) })}</p>
          ) : (
            <p className={dialogClasses.text} aria-busy={!isKnown && failure === undefined}>
              {isKnown
                ? t('changes.takeBackText', { count: paths.length, paths: shortList(paths) })
                : t(failure === undefined ? 'changes.takeBackWait' : 'changes.takeBackUnknown')}
              {changes?.some(({ truncated }) => truncated) ? ` ${t('changes.more')}` : null}
            </p>
          )}
          {problem === undefined ? null : <FormFailure failure={problem} />}
          <div className={dialogClasses.buttons}>
            <Button variant="subtle" color="gray" className={dialogClasses.instead} onClick={cancel} disabled={isBusy}>
              {t('app.cancel')}
            </Button>
            <Button variant="default" onClick={keep} disabled={isBusy} data-autofocus>
              {t('changes.keepFiles')}
            </Button>
            <Button
              onClick={() => void undo(askedOnce).then((isDone) => isDone && onContinue())}
              disabled={!isKnown}
              loading={isBusy}
            >
              {askedOnce ? t('changes.force') : t('changes.takeBack', { count: paths.length })}
            </Button>
          </div>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

/** Loads the changes of these answers one after the other; calls `onNothing` if there is nothing to undo. */
function useChangesOf(chatId: string, messageIds: readonly string[], onNothing: () => void) {
  const queries = useQueryClient();
  const [changes, setChanges] = useState<Changes[]>();
  const [failure, setFailure] = useState<unknown>();
  useEffect(() => {
    let isHere = true;
    const read = async () => {
      const found: Changes[] = [];
      for (const messageId of messageIds) {
        if (isHere) found.push(await queries.fetchQuery(changesQuery({ chatId, messageId })));
      }
      if (!isHere) return;
      if (filesToUndo(found).length === 0) onNothing();
      else setChanges(found);
    };
    read().catch((error: unknown) => {
      if (!isHere) return;
      // Without workspaces there is nothing to take back, now or later.
      if (error instanceof ApiFailure && error.code === 'workspace_disabled') onNothing();
      else setFailure(error);
    });
    return () => {
      isHere = false;
    };
  }, []);
  return { changes, failure };
}

/** Undoes; redoes the undone answers if the person cancels. */
function useTakingBack(chatId: string, messageIds: readonly string[]) {
  const t = useText();
  const queries = useQueryClient();
  const [conflicts, setConflicts] = useState<string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const taking = useMemo(
    () =>
      new AnswersUndo(messageIds, async (messageId, direction, force) => {
        const { conflicts, skipped, changes } = await changeWorkspace({ chatId, messageId }, { direction }, force);
        if (changes) queries.setQueryData(changesQuery({ chatId, messageId }).queryKey, changes);
        return { conflicts, skipped };
      }),
    [queries, chatId, messageIds],
  );
  const busily = async (work: () => Promise<boolean>): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      return await work();
    } catch (problem) {
      setError(problem);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const undo = (force: boolean) =>
    busily(async () => {
      const found = await taking.undo(force);
      setConflicts(found);
      if (found.length > 0) return false;
      const left = taking.skipped;
      if (left.length > 0) showToast(t('changes.skipped', { count: left.length, paths: shortList(left) }));
      return true;
    });
  const leave = async () => {
    setBusy(true);
    await taking.giveUp().catch((problem: unknown) => showFailure(t('changes.failed'), failureText(problem, t)));
    setBusy(false);
    return true;
  };
  return { undo, leave, conflicts, isBusy, error };
}
