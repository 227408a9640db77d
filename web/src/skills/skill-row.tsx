import '../forms/switch.css';
import type { Skill } from '@homeport/contracts/skills';
import { ActionIcon, Button, Menu, Switch } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, FileUp, Trash2, UsersRound } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { formatSize } from '../files/preview/file-look.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { projectsQuery } from '../layout/records/projects-api.ts';
import { focusSectionTitle } from '../layout/section.tsx';
import { showFailure, showToast } from '../layout/toasts.tsx';
import { ShownText } from '../mcp/shown-text.tsx';
import { SkillAudienceDialog } from './skill-audience-dialog.tsx';
import classes from './skills.module.css';

type Props = { skill: Skill; isOwn: boolean; onLook: () => void; onReplace: () => void };

/** One skill of the list: its description, its audience and its switch. */
export function SkillRow({ skill, isOwn, onLook, onReplace }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const { id, name, description, audience, projectId, canEdit, enabled, trust } = skill;
  const { data: projects } = useQuery(projectsQuery(false));
  const [dialog, setDialog] = useState<'remove' | 'share'>();
  const project = projects?.find((each) => each.id === projectId)?.name;
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      showFailure(t('skills.changeFailed'), failureText(error, t));
    }
    await queries.invalidateQueries({ queryKey: ['skills'] });
  };
  const remove = () => {
    setDialog(undefined);
    return attempt(async () => {
      await call('DELETE /api/skills', { query: { id } });
      showToast(t('skills.removed', { name }));
      focusSectionTitle();
    });
  };
  const state = enabled ? trust : 'off';
  return (
    <li className={classes.row}>
      <div className={classes.about}>
        <p className={classes.name}>
          <code>/{name}</code>
          {state === 'trusted' ? null : (
            <span className={classes.state} data-state={state}>
              {t(`skills.state.${state}`)}
            </span>
          )}
          {audience === 'everyone' ? <span className={classes.badge}>{t('assistants.forEveryone')}</span> : null}
          {project === undefined ? null : (
            <span className={classes.badge}>{t('assistants.inProject', { name: project })}</span>
          )}
        </p>
        <p className={classes.description}>
          <ShownText text={description} />
        </p>
        <p className={classes.facts}>
          {isOwn ? '' : `${t('skills.by', { name: skill.ownerName })} · `}
          {t('skills.files', { count: skill.files, size: formatSize(skill.bytes) })}
        </p>
      </div>
      <div className={classes.actions}>
        {canEdit ? (
          <Switch
            checked={enabled}
            size="md"
            aria-label={t('skills.on', { name })}
            onChange={(event) => {
              const isOn = event.currentTarget.checked;
              void attempt(() => call('PATCH /api/skills', { body: { id, enabled: isOn } }));
            }}
          />
        ) : null}
        <Button
          variant={trust === 'trusted' ? 'default' : 'filled'}
          size="compact-sm"
          aria-label={t(trust === 'trusted' ? 'skills.lookNamed' : 'skills.reviewNamed', { name })}
          onClick={onLook}
        >
          {t(trust === 'trusted' ? 'skills.look' : 'skills.review')}
        </Button>
        {canEdit ? (
          <Menu position="bottom-end" width={210}>
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" size={34} aria-label={t('skills.options', { name })}>
                <Ellipsis size={18} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<FileUp size={15} aria-hidden />} onClick={onReplace}>
                {t('skills.replace')}
              </Menu.Item>
              {isOwn ? (
                <Menu.Item leftSection={<UsersRound size={15} aria-hidden />} onClick={() => setDialog('share')}>
                  {t('skills.share')}
                </Menu.Item>
              ) : null}
              <Menu.Item
                color="var(--text-danger)"
                leftSection={<Trash2 size={15} aria-hidden />}
                onClick={() => setDialog('remove')}
              >
                {t('skills.remove')}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        ) : null}
      </div>
      {dialog === 'share' ? <SkillAudienceDialog skill={skill} onClose={() => setDialog(undefined)} /> : null}
      {dialog === 'remove' ? (
        <ConfirmDialog
          title={t('skills.removeTitle', { name })}
          text={t(audience === 'me' ? 'skills.removeText' : 'skills.removeSharedText')}
          confirmLabel={t('skills.removeConfirm')}
          onConfirm={() => void remove()}
          onClose={() => setDialog(undefined)}
        />
      ) : null}
    </li>
  );
}
