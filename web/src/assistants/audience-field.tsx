import '../forms/forms.css';
import type { Audience } from '@homeport/contracts/catalogue/sharing';
import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useClientSession } from '../conversation/client-session.ts';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import formClasses from '../forms/form.module.css';
import { useText } from '../i18n/i18n.ts';
import { projectsQuery } from '../layout/records/projects-api.ts';
import classes from './assistants.module.css';

type Shared = { audience: Audience; projectId: string | null };
type Props = {
  value: Shared;
  onChange: (value: Shared) => void;
  error?: ReactNode;
  /** True for the author, the only one who can change the audience. */
  isOwn: boolean;
};

/** Field for the audience of an assistant or a prompt. */
export function AudienceField({ value, onChange, error, isOwn }: Props) {
  const t = useText();
  const { user } = useClientSession();
  const { data } = useQuery(projectsQuery(false));
  const projects = (data ?? []).filter(({ role, id }) => role !== null || id === value.projectId);
  const audiences = (['me', 'project', 'everyone'] as const).filter(
    (each) => each !== 'everyone' || user.role === 'admin' || value.audience === 'everyone',
  );
  if (!isOwn) {
    const name = projects.find(({ id }) => id === value.projectId)?.name ?? '';
    return (
      <div>
        <p className={classes.fieldName}>{t('audience.label')}</p>
        <p className={classes.hint}>
          {t(value.audience === 'project' ? 'audience.fixedProject' : 'audience.fixedEveryone', { name })}
        </p>
      </div>
    );
  }
  return (
    <div className={formClasses.form}>
      <ChoiceChips
        legend={t('audience.label')}
        options={audiences.map((each) => ({ value: each, label: t(`audience.${each}`) }))}
        value={value.audience}
        onChange={(audience) =>
          onChange({ audience, projectId: audience === 'project' ? (projects[0]?.id ?? null) : null })
        }
        hint={t(`audience.${value.audience}Hint`)}
      />
      {value.audience === 'project' ? (
        <NativeSelect
          label={t('projects.moveLegend')}
          value={value.projectId ?? ''}
          onChange={(event) => onChange({ audience: 'project', projectId: event.currentTarget.value || null })}
          error={error}
          description={data && projects.length === 0 ? t('audience.noProjects') : undefined}
          data={
            projects.length === 0
              ? [{ value: '', label: t('audience.chooseProject') }]
              : projects.map(({ id, name }) => ({ value: id, label: name }))
          }
        />
      ) : null}
    </div>
  );
}
