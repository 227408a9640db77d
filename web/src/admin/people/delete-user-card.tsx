import 'virtual:texts/import-export';
import type { ManagedUser } from '@homeport/contracts/admin';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/api.ts';
import { ChoiceChips } from '../../forms/choice-chips.tsx';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { FormDialog } from '../../layout/dialogs/form-dialog.tsx';
import { Card } from '../../layout/section.tsx';
import { showToast } from '../../layout/toasts.tsx';
import { lastAdminText } from './last-admin.ts';

const choices = ['delete', 'keep'] as const;

/** Deletes another user's account, with or without their content. */
export function DeleteUserCard({ user }: { user: ManagedUser }) {
  const t = useText();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const [data, setData] = useState<(typeof choices)[number]>('delete');
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const { id, name } = user;
  const remove = async () => {
    if (isBusy) return;
    setBusy(true);
    setFailure(undefined);
    try {
      await call('DELETE /api/admin/users', { query: { id, data } });
      showToast(t('moving.userDeleted', { name }));
      await navigate({ to: '/settings/admin/users' });
      await queries.invalidateQueries();
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };
  return (
    <Card
      title={t('moving.userDelete')}
      text={t('moving.userDeleteText')}
      action={
        <Button variant="default" onClick={() => setAsking(true)}>
          {t('moving.deleteAction')}
        </Button>
      }
    >
      {isAsking ? (
        <FormDialog title={t('moving.userDeleteTitle', { name })} onClose={() => setAsking(false)}>
          {({ cancel }) => (
            <>
              <ChoiceChips
                legend={t('moving.userData')}
                options={choices.map((value) => ({ value, label: t(`moving.userData.${value}`) }))}
                value={data}
                onChange={setData}
              />
              <p>{t(`moving.userDataHint.${data}`)}</p>
              {failure === undefined ? null : <FormFailure failure={failure} text={lastAdminText(failure, t)} />}
              <div style={{ display: 'flex', gap: 8, flexWrap: 'wrap' }}>
                {cancel}
                <Button color="red.9" aria-disabled={isBusy} onClick={() => void remove()}>
                  {t('moving.userDelete')}
                </Button>
              </div>
            </>
          )}
        </FormDialog>
      ) : null}
    </Card>
  );
}
