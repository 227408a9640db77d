import { limits } from '@homeport/contracts/limits';
import { ActionIcon } from '@mantine/core';
import { FileText, X } from 'lucide-react';
import { formatSize } from '../files/preview/file-look.ts';
import { UploadPicker } from '../files/upload-picker.tsx';
import { useText } from '../i18n/i18n.ts';
import { Card } from '../layout/section.tsx';
import classes from './assistants.module.css';

type Props = { files: readonly File[]; onChange: (files: readonly File[]) => void };

/** Knowledge files for an assistant that does not exist yet: they are uploaded when it is created. */
export function ChosenFiles({ files, onChange }: Props) {
  const t = useText();
  return (
    <Card title={t('knowledge.title')}>
      <p className={classes.hint}>{t('knowledge.text')}</p>
      <div className={classes.chosen}>
        {files.length > 0 ? (
          <ul className={classes.chosenList} aria-label={t('knowledge.chosen')}>
            {files.map((file, index) => (
              <li key={`${file.name} ${index}`}>
                <FileText size={16} aria-hidden />
                <bdi className={classes.chosenName}>{file.name}</bdi>
                <span className={classes.hint}>{formatSize(file.size)}</span>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={30}
                  aria-label={t('knowledge.remove', { name: file.name })}
                  onClick={() => onChange(files.filter((_, place) => place !== index))}
                >
                  <X size={16} />
                </ActionIcon>
              </li>
            ))}
          </ul>
        ) : (
          <p className={classes.hint}>{t('knowledge.empty', { max: limits.assistantFilesMax })}</p>
        )}
        <UploadPicker
          label={t('knowledge.choose')}
          onFiles={(chosen) => onChange([...files, ...chosen].slice(0, limits.assistantFilesMax))}
        />
        {files.length > 0 ? <p className={classes.hint}>{t('knowledge.later')}</p> : null}
      </div>
    </Card>
  );
}
