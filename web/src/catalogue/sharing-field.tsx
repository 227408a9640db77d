import '../forms/forms.css';
import 'virtual:texts/catalogue';
import type { SharedWith } from '@homeport/contracts/catalogue/catalogue';
import { TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { meQuery, publicConfigQuery } from '../api/queries.ts';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { useCatalogueOwner } from './catalogue-api.ts';
import classes from './provider-form.module.css';

const audiences = ['none', 'everyone', 'users'] as const;

/** Whether the signed-in person may share what they add here: an administrator, their own, in the community edition. */
export function useCanShare(): boolean {
  const owner = useCatalogueOwner();
  const { data: me } = useQuery(meQuery);
  const { data: config } = useQuery(publicConfigQuery);
  return owner === undefined && me?.user.role === 'admin' && config?.edition === 'community';
}

/** With whom a provider is shared. */
export function SharingField({ value, onChange }: { value: SharedWith; onChange: (value: SharedWith) => void }) {
  const t = useText();
  const audience = typeof value === 'string' ? value : 'users';
  return (
    <div className={classes.chosen}>
      <ChoiceChips
        legend={t('sharing.legend')}
        options={audiences.map((each) => ({ value: each, label: t(`sharing.${each}`) }))}
        value={audience}
        onChange={(next) => onChange(next === 'users' ? { userIds: [] } : next)}
        hint={t(`sharing.hint.${audience}`)}
      />
      {typeof value === 'string' ? null : (
        <People chosen={value.userIds} onChange={(userIds) => onChange({ userIds })} />
      )}
    </div>
  );
}

function People({ chosen, onChange }: { chosen: readonly string[]; onChange: (userIds: string[]) => void }) {
  const t = useText();
  const [text, setText] = useState('');
  const { data: me } = useQuery(meQuery);
  const { data, error } = useQuery({
    queryKey: ['admin-users', 'sharing', text],
    queryFn: ({ signal }) => call('GET /api/admin/users', { query: { q: text, limit: '50' }, signal }),
    placeholderData: keepPreviousData,
  });
  const people = data?.users.filter(({ id }) => id !== me?.user.id) ?? [];
  return (
    <>
      <TextInput
        label={t('sharing.search')}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        maxLength={200}
        autoComplete="off"
      />
      {error ? <FormFailure failure={error} /> : null}
      {people.length > 0 ? (
        <ul className={classes.people} aria-label={t('sharing.people')}>
          {people.map(({ id, name, email }) => (
            <li key={id}>
              <label className={classes.person}>
                <input
                  type="checkbox"
                  checked={chosen.includes(id)}
                  onChange={(event) =>
                    onChange(event.currentTarget.checked ? [...chosen, id] : chosen.filter((each) => each !== id))
                  }
                />
                <span className={classes.about}>
                  <bdi>{name}</bdi>
                  <span className={classes.soft}>{email}</span>
                </span>
              </label>
            </li>
          ))}
        </ul>
      ) : data && text.trim() !== '' ? (
        <p className={classes.soft}>{t('sharing.noHits', { query: text.trim() })}</p>
      ) : null}
      <p className={classes.soft} role="status">
        {t('sharing.chosen', { count: chosen.length })}
      </p>
    </>
  );
}
