import '../layout/dialogs/dialogs.css';
import type { Assistant, AssistantVersion } from '@homeport/contracts/assistants';
import { Button, Modal } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { filesKey } from '../files/files-api.ts';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import { Disclosure } from '../forms/disclosure.tsx';
import formClasses from '../forms/form.module.css';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { dateLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { useReturnFocus } from '../layout/dialogs/use-return-focus.ts';
import { assistantQuery } from '../layout/records/assistant-queries.ts';
import { showToast } from '../layout/toasts.tsx';
import classes from './assistants.module.css';
import { versionsQuery } from './assistants-api.ts';
import { useVersionLabels } from './use-version-labels.ts';
import { changedFields, type FieldChange, isText, versionTexts } from './version-diff.ts';

type Props = {
  assistant: Assistant;
  isDirty: boolean;
  onRestored: (assistant: Assistant) => void;
  onClose: () => void;
};

/** The versions of an assistant: what each changed, and the way back to it. */
export function VersionsDialog({ assistant, isDirty, onRestored, onClose }: Props) {
  const t = useText();
  useReturnFocus();
  const queries = useQueryClient();
  const words = useVersionLabels();
  const { data, error } = useQuery(versionsQuery(assistant.id));
  const [base, setBase] = useState<'before' | 'current'>('before');
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const restore = async (from: number) => {
    if (isBusy) return;
    setBusy(true);
    setFailure(undefined);
    try {
      const { assistant: restored } = await call('PATCH /api/assistants', {
        body: { id: assistant.id, restoreVersion: from },
      });
      queries.setQueryData(assistantQuery(assistant.id).queryKey, restored);
      void queries.invalidateQueries({ queryKey: ['assistants'] });
      void queries.invalidateQueries({ queryKey: filesKey({ assistantId: assistant.id }) });
      showToast(t('versions.restored', { from, version: restored.version }));
      onRestored(restored);
      onClose();
    } catch (refusal) {
      setFailure(refusal);
      setBusy(false);
    }
  };
  const versions = data ?? [];
  /** The version to compare with; undefined for the first one. */
  const other = (index: number) => (base === 'current' ? versions[0] : versions[index + 1]);
  const changes = (version: AssistantVersion, against: AssistantVersion) => {
    const [old, now] = base === 'current' ? [version, against] : [against, version];
    return changedFields(versionTexts(old, words), versionTexts(now, words));
  };
  return (
    <Modal opened onClose={onClose} title={t('versions.title', { name: assistant.name })} size="42rem">
      <div className={formClasses.form}>
        <p className={classes.hint}>{t('versions.text')}</p>
        {isDirty ? <Notice kind="warning">{t('versions.discards')}</Notice> : null}
        {versions.length > 1 ? (
          <ChoiceChips
            legend={t('versions.compare')}
            options={[
              { value: 'before', label: t('versions.before') },
              { value: 'current', label: t('versions.current') },
            ]}
            value={base}
            onChange={setBase}
          />
        ) : null}
        <FormFailure failure={failure ?? error ?? undefined} />
        {data || error ? null : <Loading />}
        <ol className={classes.versions}>
          {versions.map((version, index) => {
            const against = other(index);
            const isCurrent = index === 0;
            return (
              <li key={version.version} className={classes.version}>
                <div className={classes.versionHead}>
                  <div className={classes.versionWords}>
                    <h3>
                      {t('versions.version', { version: version.version })}
                      {isCurrent ? <span className={classes.badge}>{t('versions.isCurrent')}</span> : null}
                    </h3>
                    <p className={classes.hint}>
                      {t(version.authorName === null ? 'versions.byNobody' : 'versions.by', {
                        date: dateTime(version.createdAt),
                        name: version.authorName ?? '',
                      })}
                    </p>
                  </div>
                  {isCurrent ? null : (
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={t('versions.restoreNamed', { version: version.version })}
                      aria-disabled={isBusy}
                      onClick={() => void restore(version.version)}
                    >
                      {t('versions.restore')}
                    </Button>
                  )}
                </div>
                {against && against !== version ? (
                  <Disclosure label={t(base === 'current' ? 'versions.differences' : 'versions.changes')}>
                    <Changes changes={changes(version, against)} />
                  </Disclosure>
                ) : null}
                {against ? null : <p className={classes.hint}>{t('versions.first')}</p>}
              </li>
            );
          })}
        </ol>
      </div>
    </Modal>
  );
}

function Changes({ changes }: { changes: readonly FieldChange[] }) {
  const t = useText();
  if (changes.length === 0) return <p className={classes.noChange}>{t('versions.none')}</p>;
  return (
    <dl className={classes.changes}>
      {changes.map(({ field, runs }) => (
        <div key={field}>
          <dt>{t(`versions.field.${field}`)}</dt>
          <dd data-lines={isText(field) ? undefined : true}>
            {runs.map((run, index) => {
              if (run.kind === 'same') return run.text;
              const Tag = run.kind === 'added' ? 'ins' : 'del';
              return (
                <Tag key={index}>
                  <span className="visually-hidden">{t(`versions.${run.kind}`)} </span>
                  {run.text}
                </Tag>
              );
            })}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function dateTime(time: string): string {
  return new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(time));
}
