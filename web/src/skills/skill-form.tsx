import '../forms/forms.css';
import type { Audience } from '@homeport/contracts/catalogue/sharing';
import { limits } from '@homeport/contracts/limits';
import type { Skill } from '@homeport/contracts/skills';
import { Button, NativeSelect } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { FileUp, FolderUp } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { call } from '../api/api.ts';
import { uploadSkill } from '../api/upload.ts';
import { AudienceField } from '../assistants/audience-field.tsx';
import { formatSize } from '../files/preview/file-look.ts';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { type TextId, useText } from '../i18n/i18n.ts';
import { showToast } from '../layout/toasts.tsx';
import { filesOfFolder, packFolder } from './pack-folder.ts';
import classes from './skills.module.css';

type Source = 'folder' | 'file' | 'workspace';
type Values = { source: Source; path: string; audience: Audience; projectId: string | null };
type Props = {
  /** The skill that gets other files; undefined adds one. */
  replaced: Skill | undefined;
  inWorkspace: readonly { name: string; path: string }[];
  /** Skill of the workspace that is selected first. */
  path: string | undefined;
  onSaved: () => void;
  onDirty: (isDirty: boolean) => void;
  beside: ReactNode;
};

const bounds = { files: limits.skillFiles, size: limits.skillBytes / 1024 / 1024 };

/** Adds a skill, or gives one other files: from a folder, a zip archive, or the workspace. */
export function SkillForm({ replaced, inWorkspace, path, onSaved, onDirty, beside }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const [file, setFile] = useState<File>();
  const [fault, setFault] = useState<TextId>();
  const sources: readonly Source[] =
    replaced || inWorkspace.length === 0 ? ['folder', 'file'] : ['folder', 'file', 'workspace'];
  const { form, formProps, isBusy, failure } = useApiForm<Values>({
    initialValues: {
      source: path === undefined ? 'folder' : 'workspace',
      path: path ?? inWorkspace[0]?.path ?? '',
      audience: 'me',
      projectId: null,
    },
    validate: ({ source, audience, projectId }) => {
      const isMissing = source !== 'workspace' && file === undefined;
      if (isMissing) setFault('skills.nothingChosen');
      return {
        source: isMissing ? t('skills.nothingChosen') : null,
        projectId: audience === 'project' && projectId === null ? t('audience.projectMissing') : null,
      };
    },
    submit: async ({ source, path: chosen, audience, projectId }) => {
      const shared = { audience, ...(projectId === null ? {} : { projectId }) };
      const skill =
        source === 'workspace' || file === undefined
          ? (await call('POST /api/skills/from-workspace', { body: { path: chosen, ...shared } })).skill
          : await uploadSkill(file, replaced ? { id: replaced.id } : shared, AbortSignal.timeout(uploadMs));
      await queries.invalidateQueries({ queryKey: ['skills'] });
      showToast(t(replaced ? 'skills.replaced' : 'skills.added', { name: skill.name }));
      onSaved();
    },
  });
  const { source } = form.values;
  const isDirty = form.isDirty() || file !== undefined;
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  const take = (next: File | undefined, problem: TextId | undefined) => {
    setFile(next);
    setFault(problem);
    form.clearErrors();
  };
  return (
    <form {...formProps} className={formClasses.form}>
      <ChoiceChips
        legend={t('skills.source')}
        options={sources.map((each) => ({ value: each, label: t(`skills.source.${each}`) }))}
        value={source}
        onChange={(next) => {
          form.setFieldValue('source', next);
          take(undefined, undefined);
        }}
        hint={t('skills.sourceHint', bounds)}
      />
      {source === 'workspace' ? (
        <NativeSelect
          {...form.getInputProps('path')}
          label={t('skills.workspaceSkill')}
          data={inWorkspace.map((each) => ({ value: each.path, label: each.name }))}
        />
      ) : (
        <Chooser key={source} isFolder={source === 'folder'} file={file} fault={fault} onTake={take} />
      )}
      {replaced ? (
        <p className={classes.facts}>{t('skills.replaceHint')}</p>
      ) : (
        <AudienceField
          value={form.values}
          onChange={(shared) => {
            form.clearErrors();
            form.setValues(shared);
          }}
          error={form.errors.projectId}
          isOwn
        />
      )}
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        {beside}
        <SubmitButton
          label={replaced ? t('form.save') : t('skills.add')}
          busyLabel={t(replaced ? 'form.saving' : 'skills.adding')}
          isBusy={isBusy}
        />
      </div>
    </form>
  );
}

const uploadMs = 120_000;

type ChooserProps = {
  isFolder: boolean;
  file: File | undefined;
  fault: TextId | undefined;
  onTake: (file: File | undefined, fault: TextId | undefined) => void;
};

function Chooser({ isFolder, file, fault, onTake }: ChooserProps) {
  const t = useText();
  const input = useRef<HTMLInputElement>(null);
  const label = t(isFolder ? 'skills.chooseFolder' : 'skills.chooseFile');
  const Icon = isFolder ? FolderUp : FileUp;
  const take = async (files: File[]) => {
    const [first] = files;
    if (first === undefined) return;
    if (!isFolder) return onTake(first, first.size > limits.skillUploadBytes ? 'skills.tooLarge' : undefined);
    const packed = await packedFolder(files);
    onTake(typeof packed === 'string' ? undefined : packed, typeof packed === 'string' ? packed : undefined);
  };
  return (
    <div>
      <div className={classes.chooser}>
        <Button variant="default" leftSection={<Icon size={15} aria-hidden />} onClick={() => input.current?.click()}>
          {label}
        </Button>
        <span className={classes.facts}>
          {file ? t('skills.chosen', { name: file.name, size: formatSize(file.size) }) : ''}
        </span>
      </div>
      <p role="alert" className={classes.fault}>
        {fault === undefined ? '' : t(fault, bounds)}
      </p>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={label}
        {...(isFolder ? { webkitdirectory: '' } : { accept: '.zip,.skill,.md,application/zip,text/markdown' })}
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = '';
          void take(files);
        }}
      />
    </div>
  );
}

/** Packs the folder into one file, or returns the id of an error text. */
async function packedFolder(chosen: readonly File[]): Promise<File | TextId> {
  const files = filesOfFolder(chosen);
  const size = files.reduce((sum, each) => sum + each.size, 0);
  if (size > limits.skillBytes || files.length > limits.skillFiles) return 'skills.tooLarge';
  try {
    const read = files.map(async (each) => ({
      path: each.webkitRelativePath || each.name,
      bytes: new Uint8Array(await each.arrayBuffer()),
    }));
    const name = chosen[0]?.webkitRelativePath.split('/')[0] || 'skill';
    return new File([packFolder(await Promise.all(read))], `${name}.zip`, { type: 'application/zip' });
  } catch {
    return 'skills.unreadable';
  }
}
