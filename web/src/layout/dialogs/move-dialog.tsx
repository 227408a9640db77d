import 'virtual:texts/projects';
import 'virtual:texts/pages';
import './dialogs.css';
import '../../forms/switch.css';
import type { Chat } from '@homeport/contracts/chat/conversations';
import { Button, Modal } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Folder, FolderX } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/api.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import formClasses from '../../forms/form.module.css';
import { FormFailure } from '../../forms/notice.tsx';
import { type Translate, useText } from '../../i18n/i18n.ts';
import { projectsQuery } from '../records/projects-api.ts';
import { showToast } from '../toasts.tsx';
import classes from './move-dialog.module.css';
import { useReturnFocus } from './use-return-focus.ts';

/** Moves a conversation into a project, to another one, or out, and reports the result for its files. */
export function MoveDialog({ chat, onClose }: { chat: Chat; onClose: () => void }) {
  const t = useText();
  useReturnFocus();
  const queries = useQueryClient();
  const { conversation } = useClientSession();
  const { data, error } = useQuery(projectsQuery(false));
  const [chosen, setChosen] = useState(chat.projectId);
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const projects = data ?? [];
  const move = async () => {
    if (chosen === chat.projectId) return onClose();
    setBusy(true);
    setFailure(undefined);
    try {
      const answer = await call('PATCH /api/chats', { body: { id: chat.id, projectId: chosen } });
      const name = projects.find(({ id }) => id === chosen)?.name;
      showToast(report(name, answer, t));
      conversation(chat.id).restart();
      for (const key of ['chats', 'files']) void queries.invalidateQueries({ queryKey: [key] });
      onClose();
    } catch (refusal) {
      setFailure(refusal);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={t('projects.moveTitle')} size="28rem">
      <div className={formClasses.form}>
        <p className={classes.hint}>{t(chat.projectId === null ? 'projects.moveText' : 'projects.moveOutText')}</p>
        <fieldset className={classes.choices}>
          <legend className="visually-hidden">{t('projects.moveLegend')}</legend>
          <Choice isChosen={chosen === null} onChoose={() => setChosen(null)}>
            <FolderX size={16} aria-hidden />
            <span>{t('projects.none')}</span>
          </Choice>
          {projects.map((project) => (
            <Choice key={project.id} isChosen={chosen === project.id} onChoose={() => setChosen(project.id)}>
              <Folder size={16} aria-hidden />
              <bdi>{project.name}</bdi>
            </Choice>
          ))}
        </fieldset>
        {data?.length === 0 ? <p className={classes.hint}>{t('projects.noneYet')}</p> : null}
        <FormFailure failure={failure ?? error ?? undefined} />
        <div className={formClasses.actions}>
          <Button variant="default" onClick={onClose}>
            {t('app.cancel')}
          </Button>
          <Button aria-disabled={isBusy} onClick={() => !isBusy && void move()}>
            {t('projects.move')}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

function Choice({
  isChosen,
  onChoose,
  children,
}: {
  isChosen: boolean;
  onChoose: () => void;
  children: React.ReactNode;
}) {
  return (
    <label className={classes.choice}>
      <input type="radio" name="project" checked={isChosen} onChange={onChoose} />
      {children}
    </label>
  );
}

function report(
  name: string | undefined,
  { movedArtifacts, artifactFolder }: { movedArtifacts: number; artifactFolder: string | null },
  t: Translate,
): string {
  const moved = name === undefined ? t('projects.movedOut') : t('projects.movedInto', { name });
  if (movedArtifacts === 0) return moved;
  const files =
    artifactFolder === null
      ? t('projects.movedFiles', { count: movedArtifacts })
      : t('projects.movedFolder', { count: movedArtifacts, folder: artifactFolder });
  return `${moved} ${files}`;
}
