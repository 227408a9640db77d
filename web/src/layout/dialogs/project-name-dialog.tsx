import 'virtual:texts/projects';
import 'virtual:texts/pages';
import '../../forms/forms.css';
import './dialogs.css';
import '../../forms/switch.css';
import { limits } from '@homeport/contracts/limits';
import type { Project } from '@homeport/contracts/projects';
import { Button, Modal, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/api.ts';
import formClasses from '../../forms/form.module.css';
import { FormFailure } from '../../forms/notice.tsx';
import { textFault } from '../../forms/rules.ts';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import { useReturnFocus } from './use-return-focus.ts';

type Props = {
  /** The project to rename; undefined creates a new one. */
  project: Project | undefined;
  onDone: (project: Project) => void;
  onClose: () => void;
};

/** Asks for the name of a project. */
export function NameDialog({ project, onDone, onClose }: Props) {
  const t = useText();
  useReturnFocus();
  const queries = useQueryClient();
  const { form, formProps, isBusy, failure } = useApiForm<{ name: string }>({
    initialValues: { name: project?.name ?? '' },
    validate: ({ name }) => ({ name: textFault(name, limits.projectNameMax, t) }),
    submit: async (values) => {
      const name = values.name.trim();
      const answer = project
        ? await call('PATCH /api/projects', { body: { id: project.id, name } })
        : await call('POST /api/projects', { body: { name } });
      await queries.invalidateQueries({ queryKey: ['projects'] });
      onDone(answer.project);
    },
  });
  return (
    <Modal opened onClose={onClose} title={t(project ? 'projects.renameTitle' : 'projects.newTitle')} size="26rem">
      <form {...formProps} className={formClasses.form}>
        <TextInput
          {...form.getInputProps('name')}
          label={t('projects.name')}
          description={project ? undefined : t('projects.nameHint')}
          autoComplete="off"
          data-autofocus
        />
        <FormFailure failure={failure} />
        <div className={formClasses.actions}>
          <Button variant="default" onClick={onClose}>
            {t('app.cancel')}
          </Button>
          <SubmitButton
            label={t(project ? 'form.save' : 'projects.create')}
            busyLabel={t('form.saving')}
            isBusy={isBusy}
          />
        </div>
      </form>
    </Modal>
  );
}
