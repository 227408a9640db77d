import 'virtual:texts/projects';
import type { Project } from '@homeport/contracts/projects';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/api.ts';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { InstructionsField, ShownInstructions } from '../instructions/instructions-field.tsx';
import { instructionsBody, instructionsFault } from '../instructions/instructions-rules.ts';
import { UnsavedGuard } from '../layout/dialogs/unsaved-guard.tsx';
import { EmptyState } from '../layout/section.tsx';
import { showToast } from '../layout/toasts.tsx';
import classes from './projects.module.css';

/** Instructions of the project's conversations: owners edit them, members read them. */
export function InstructionsView({ project }: { project: Project }) {
  const t = useText();
  if (project.role === 'owner') return <InstructionsForm project={project} />;
  if (project.instructions === null) {
    return (
      <EmptyState
        title={t('projects.instructionsNoneTitle')}
        text={t('projects.instructionsNoneText')}
        action={
          <Button component={Link} to="/settings/personalization" variant="default">
            {t('projects.instructionsOwn')}
          </Button>
        }
      />
    );
  }
  return (
    <>
      <p className={classes.hint}>{t('projects.instructionsRead')}</p>
      <ShownInstructions text={project.instructions} />
    </>
  );
}

function InstructionsForm({ project }: { project: Project }) {
  const t = useText();
  const queries = useQueryClient();
  const stored = project.instructions ?? '';
  const [initialValues] = useState(() => ({ instructions: stored }));
  const { form, formProps, isBusy, failure } = useApiForm({
    initialValues,
    validate: ({ instructions }) => ({ instructions: instructionsFault(instructions, t) }),
    submit: async (values) => {
      const instructions = instructionsBody(values.instructions);
      await call('PATCH /api/projects', { body: { id: project.id, instructions } });
      await queries.invalidateQueries({ queryKey: ['projects'] });
      form.setValues({ instructions: instructions ?? '' });
      showToast(t('form.saved'));
    },
  });
  const { instructions } = form.values;
  return (
    <form {...formProps} className={formClasses.form}>
      <UnsavedGuard isDirty={instructions !== stored} />
      <InstructionsField
        label={t('projects.instructionsLabel')}
        hint={t('projects.instructionsHint')}
        value={instructions}
        onChange={(text) => form.setFieldValue('instructions', text)}
        error={form.errors.instructions}
      />
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
