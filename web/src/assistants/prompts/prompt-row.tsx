import type { Prompt } from '@homeport/contracts/prompts';
import { ActionIcon } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { PencilLine, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/api.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../layout/dialogs/confirm-dialog.tsx';
import { projectsQuery } from '../../layout/records/projects-api.ts';
import { focusSectionTitle } from '../../layout/section.tsx';
import { showFailure, showToast } from '../../layout/toasts.tsx';
import classes from './prompts.module.css';

/** One prompt of the list: its name, its beginning and its audience. */
export function PromptRow({ prompt, onEdit }: { prompt: Prompt; onEdit: () => void }) {
  const t = useText();
  const queries = useQueryClient();
  const { id, name, title, text, audience, projectId, canEdit } = prompt;
  const { data: projects } = useQuery(projectsQuery(false));
  const [isDeleting, setDeleting] = useState(false);
  const project = projects?.find((each) => each.id === projectId)?.name;
  const remove = async () => {
    setDeleting(false);
    try {
      await call('DELETE /api/prompts', { query: { id } });
      showToast(t('prompts.deleted', { name }));
      focusSectionTitle();
    } catch (error) {
      showFailure(t('prompts.changeFailed'), failureText(error, t));
    }
    await queries.invalidateQueries({ queryKey: ['prompts'] });
  };
  return (
    <li className={classes.row}>
      <div className={classes.about}>
        <p className={classes.name}>
          <code>/{name}</code>
          {title === name ? null : <bdi>{title}</bdi>}
          {audience === 'everyone' ? <span className={classes.badge}>{t('assistants.forEveryone')}</span> : null}
          {project === undefined ? null : (
            <span className={classes.badge}>{t('assistants.inProject', { name: project })}</span>
          )}
        </p>
        <p className={classes.beginning}>{text.slice(0, 300)}</p>
      </div>
      {canEdit ? (
        <div className={classes.actions}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={34}
            aria-label={t('prompts.editNamed', { name })}
            title={t('prompts.editNamed', { name })}
            onClick={onEdit}
          >
            <PencilLine size={16} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={34}
            aria-label={t('prompts.deleteNamed', { name })}
            title={t('prompts.deleteNamed', { name })}
            onClick={() => setDeleting(true)}
          >
            <Trash2 size={16} />
          </ActionIcon>
        </div>
      ) : null}
      {isDeleting ? (
        <ConfirmDialog
          title={t('prompts.deleteTitle', { name })}
          text={t(audience === 'me' ? 'prompts.deleteText' : 'prompts.deleteSharedText')}
          confirmLabel={t('prompts.deleteConfirm')}
          onConfirm={() => void remove()}
          onClose={() => setDeleting(false)}
        />
      ) : null}
    </li>
  );
}
