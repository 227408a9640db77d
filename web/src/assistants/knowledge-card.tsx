import type { Assistant } from '@homeport/contracts/assistants';
import { limits } from '@homeport/contracts/limits';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { FilesView } from '../files/files-view.tsx';
import { useText } from '../i18n/i18n.ts';
import { assistantQuery } from '../layout/records/assistant-queries.ts';
import { Card } from '../layout/section.tsx';
import classes from './assistants.module.css';
import { takeFiles } from './handed-over-files.ts';

type Props = {
  assistant: Assistant;
  onOpen: (fileId: string) => void;
};

/** The knowledge files of an assistant: its editors change them at once, its readers open them. */
export function KnowledgeCard({ assistant: { id, canEdit }, onOpen }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const scope = useMemo(() => ({ assistantId: id }), [id]);
  const takeChosen = useCallback(() => takeFiles(id), [id]);
  const onChanged = useCallback(() => {
    // Each change makes a version.
    void queries.invalidateQueries({ queryKey: ['assistants', 'versions', id] });
    void queries.invalidateQueries({ queryKey: assistantQuery(id).queryKey });
  }, [queries, id]);
  return (
    <Card title={t('knowledge.title')}>
      <p className={classes.hint}>{t(canEdit ? 'knowledge.text' : 'knowledge.readText')}</p>
      <div className={classes.knowledge}>
        <FilesView
          scope={scope}
          canUpload={canEdit}
          canEdit={canEdit}
          takeChosen={takeChosen}
          onChanged={onChanged}
          onOpen={(file) => onOpen(file.id)}
          empty={<p className={classes.hint}>{t('knowledge.empty', { max: limits.assistantFilesMax })}</p>}
        />
      </div>
    </Card>
  );
}
