import { trimOf } from '@homeport/contracts/text/trim-characters';
import '../layout/dialogs/dialogs.css';
import '../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { Button, Modal, TextInput } from '@mantine/core';
import { useId } from 'react';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { useReturnFocus } from '../layout/dialogs/use-return-focus.ts';
import { folderOf, joinPath, nameOf } from './folders.ts';

type Props = {
  kind: 'rename' | 'move';
  path: string;
  folders: readonly string[];
  /** Throws the server's refusal. */
  onMove: (to: string) => Promise<void>;
  onClose: () => void;
};

/** Asks for a new name, or for the target folder, which can be new. */
export function PathDialog({ kind, path, folders, onMove, onClose }: Props) {
  const t = useText();
  useReturnFocus();
  const listId = useId();
  const { form, formProps, isBusy, failure } = useApiForm<{ to: string }>({
    initialValues: { to: kind === 'rename' ? nameOf(path) : folderOf(path) },
    validate: ({ to }) => ({ to: fault(to.trim(), kind, t) }),
    submit: async ({ to }) => {
      const given = trimOf(to.trim(), '/');
      const target = kind === 'rename' ? joinPath(folderOf(path), given) : joinPath(given, nameOf(path));
      if (target !== path) await onMove(target);
      onClose();
    },
    placeFailure: ({ code, message }) =>
      code === 'path_taken'
        ? { field: 'to', text: t('files.taken') }
        : code === 'invalid_path' || code === 'invalid_request'
          ? { field: 'to', text: message }
          : undefined,
  });
  return (
    <Modal opened onClose={onClose} title={t(`files.${kind}Title`, { name: nameOf(path) })} size="26rem">
      <form {...formProps} className={formClasses.form}>
        <TextInput
          {...form.getInputProps('to')}
          label={t(kind === 'rename' ? 'files.newName' : 'files.newFolder')}
          description={kind === 'move' ? t('files.newFolderHint') : undefined}
          autoComplete="off"
          spellCheck={false}
          list={kind === 'move' ? listId : undefined}
          data-autofocus
          onFocus={(event) => selectStem(event.currentTarget, kind)}
        />
        {kind === 'move' ? (
          <datalist id={listId}>
            {folders.map((folder) => (
              <option key={folder} value={folder} />
            ))}
          </datalist>
        ) : null}
        <FormFailure failure={failure} />
        <div className={formClasses.actions}>
          <Button variant="default" onClick={onClose}>
            {t('app.cancel')}
          </Button>
          <SubmitButton label={t(`files.${kind}`)} busyLabel={t('form.saving')} isBusy={isBusy} />
        </div>
      </form>
    </Modal>
  );
}

/** Typing over a file's name keeps its extension. */
function selectStem(field: HTMLInputElement, kind: Props['kind']): void {
  const dot = field.value.lastIndexOf('.');
  if (kind === 'rename' && dot > 0) field.setSelectionRange(0, dot);
  else field.select();
}

function fault(to: string, kind: Props['kind'], t: ReturnType<typeof useText>): string | null {
  if (kind === 'rename' && to === '') return t('form.required');
  if (kind === 'rename' && to.includes('/')) return t('files.noSlash');
  return to.length > limits.artifactPathMax ? t('form.tooLong', { max: limits.artifactPathMax }) : null;
}
