import 'virtual:texts/catalogue';
import type { Provider } from '@homeport/contracts/catalogue/catalogue';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { call } from '../../api/api.ts';
import { catalogueQuery } from '../../api/queries.ts';
import { enabledModels } from '../../conversation/choices/model-choice.ts';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import classes from '../admin.module.css';
import { useIsManaged } from './account-fields.tsx';

/** Whether a new account has a model at once; undefined while that is loading. */
export function useHasFirstModel(): boolean | undefined {
  const isManaged = useIsManaged();
  const { data } = useQuery(catalogueQuery);
  return data && enabledModels(data.providers.filter((each) => isManaged || each.sharedWith === 'everyone')).length > 0;
}

type Props = {
  /** Whether the person is invited, or gets an account right away. */
  way: 'invite' | 'add';
  isWithout: boolean;
  error: string | undefined;
  onWithout: (isWithout: boolean) => void;
};

/** Makes sure that a new person has a model: shares one right here, or lets the administrator decide against it. */
export function FirstModel({ way, isWithout, error, onWithout }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const isManaged = useIsManaged();
  const hasModel = useHasFirstModel();
  const errorId = useId();
  const { data } = useQuery(catalogueQuery);
  const [shared, setShared] = useState<string>();
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const share = async ({ id, name }: Provider) => {
    if (isBusy) return;
    setBusy(true);
    setFailure(undefined);
    try {
      await call('PATCH /api/providers', { body: { id, sharedWith: 'everyone' } });
      await queries.invalidateQueries({ queryKey: catalogueQuery.queryKey });
      setShared(name);
    } catch (problem) {
      setFailure(problem);
    }
    setBusy(false);
  };
  if (hasModel === undefined) return null;
  if (hasModel)
    return shared === undefined ? null : <Notice kind="success">{t('firstModel.shared', { name: shared })}</Notice>;
  const own = isManaged
    ? []
    : (data?.providers ?? []).filter((each) => each.canEdit && enabledModels([each]).length > 0);
  return (
    <>
      <Notice
        kind="warning"
        title={t('sharing.noModelTitle')}
        action={
          own.length === 0 ? (
            <Button component={Link} to="/settings/providers" size="compact-sm" variant="default">
              {t('firstModel.add')}
            </Button>
          ) : (
            <div className={classes.shareable}>
              {own.map((each) => (
                <Button
                  key={each.id}
                  size="compact-sm"
                  variant="default"
                  aria-disabled={isBusy}
                  onClick={() => void share(each)}
                >
                  {t('firstModel.share', { name: each.name })}
                </Button>
              ))}
            </div>
          )
        }
      >
        {t(own.length === 0 ? 'firstModel.none' : 'firstModel.text')}
      </Notice>
      <FormFailure failure={failure} />
      <div>
        <label className={classes.without}>
          <input
            type="checkbox"
            checked={isWithout}
            onChange={(event) => onWithout(event.currentTarget.checked)}
            aria-invalid={error === undefined ? undefined : true}
            aria-describedby={error === undefined ? undefined : errorId}
          />
          {t(way === 'invite' ? 'firstModel.without' : 'firstModel.addWithout')}
        </label>
        {error === undefined ? null : (
          <p id={errorId} className={classes.withoutError}>
            {error}
          </p>
        )}
      </div>
    </>
  );
}
