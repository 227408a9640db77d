import '../forms/forms.css';
import type { Audience } from '@homeport/contracts/catalogue/sharing';
import type { Skill } from '@homeport/contracts/skills';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { call } from '../api/api.ts';
import { AudienceField } from '../assistants/audience-field.tsx';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import { showToast } from '../layout/toasts.tsx';

/** Changes who may use a skill. */
export function SkillAudienceDialog({ skill, onClose }: { skill: Skill; onClose: () => void }) {
  const t = useText();
  return (
    <FormDialog title={t('skills.shareTitle', { name: skill.name })} onClose={onClose}>
      {({ onDirty, cancel }) => <AudienceForm skill={skill} onSaved={onClose} onDirty={onDirty} beside={cancel} />}
    </FormDialog>
  );
}

type Props = { skill: Skill; onSaved: () => void; onDirty: (isDirty: boolean) => void; beside: ReactNode };

function AudienceForm({ skill, onSaved, onDirty, beside }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const { form, formProps, isBusy, failure } = useApiForm<{ audience: Audience; projectId: string | null }>({
    initialValues: { audience: skill.audience, projectId: skill.projectId },
    validate: ({ audience, projectId }) => ({
      projectId: audience === 'project' && projectId === null ? t('audience.projectMissing') : null,
    }),
    submit: async (values) => {
      await call('PATCH /api/skills', { body: { id: skill.id, ...values } });
      await queries.invalidateQueries({ queryKey: ['skills'] });
      showToast(t('form.saved'));
      onSaved();
    },
  });
  const isDirty = form.isDirty();
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  return (
    <form {...formProps} className={formClasses.form}>
      <AudienceField
        value={form.values}
        onChange={(shared) => form.setValues(shared)}
        error={form.errors.projectId}
        isOwn
      />
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        {beside}
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
