import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { personalizationQuery } from '../api/queries.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { showFailure, showToast } from '../layout/toasts.tsx';
import classes from './import-export.module.css';

/** Offers the instructions of an archive, once: where they are the person's own already, nothing is shown. */
export function ImportedInstructions({ text }: { text: string }) {
  const t = useText();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const { data } = useQuery({ ...personalizationQuery, staleTime: 0 });
  if (!data || data.personalization.instructions === text) return null;
  const save = async () => {
    setAsking(false);
    try {
      await call('PATCH /api/me/personalization', { body: { instructions: text } });
      showToast(t('moving.instructionsDone'));
      await queries.invalidateQueries();
    } catch (failure) {
      showFailure(t('moving.changeFailed'), failureText(failure, t));
    }
  };
  return (
    <div className={classes.found}>
      <strong>{t('moving.instructions')}</strong>
      <p className={classes.detail}>{t('moving.instructionsText')}</p>
      <pre className={classes.quote}>{text}</pre>
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => {
          if (data.personalization.instructions === null) void save();
          else setAsking(true);
        }}
      >
        {t('moving.instructionsUse')}
      </Button>
      {isAsking ? (
        <ConfirmDialog
          title={t('moving.instructionsReplaceTitle')}
          text={t('moving.instructionsReplaceText')}
          confirmLabel={t('moving.instructionsUse')}
          isGentle
          onConfirm={() => void save()}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </div>
  );
}
