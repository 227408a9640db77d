import '../forms/forms.css';
import 'virtual:texts/people';
import type { Person } from '@homeport/contracts/projects';
import { ActionIcon, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import classes from './people-picker.module.css';

type Props = {
  legend: string;
  chosen: readonly Person[];
  onChange: (people: Person[]) => void;
  /** Ids of people that are not offered. */
  without?: readonly string[];
  error?: string | undefined;
};

/** Field that chooses people by a part of their name or address. */
export function PeoplePicker({ legend, chosen, onChange, without = [], error }: Props) {
  const t = useText();
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(text.trim(), 200);
  const { data, error: failure } = useQuery({
    queryKey: ['people', q],
    queryFn: ({ signal }) => call('GET /api/people', { query: { q }, signal }),
    placeholderData: keepPreviousData,
  });
  const found = data?.people.filter(({ id }) => !without.includes(id)) ?? [];
  const isChosen = (id: string) => chosen.some((person) => person.id === id);
  const remove = (id: string) => onChange(chosen.filter((person) => person.id !== id));
  return (
    <fieldset className={classes.picker}>
      <legend>{legend}</legend>
      {chosen.length > 0 ? (
        <ul className={classes.chosen} aria-label={t('people.chosen')}>
          {chosen.map(({ id, name, email }) => (
            <li key={id} className={classes.chip} title={email}>
              <bdi>{name}</bdi>
              <ActionIcon
                variant="subtle"
                color="gray"
                size={26}
                aria-label={t('people.remove', { name })}
                onClick={() => remove(id)}
              >
                <X size={14} />
              </ActionIcon>
            </li>
          ))}
        </ul>
      ) : null}
      <TextInput
        label={t('people.search')}
        description={data?.everyone ? undefined : t('people.hint')}
        value={text}
        error={error}
        maxLength={200}
        autoComplete="off"
        onChange={(event) => setText(event.currentTarget.value)}
        // Enter would send the form around it.
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      <FormFailure failure={failure ?? undefined} />
      {found.length > 0 ? (
        <ul className={classes.found} aria-label={t('people.found')}>
          {found.map((person) => (
            <li key={person.id}>
              <label className={classes.person}>
                <input
                  type="checkbox"
                  checked={isChosen(person.id)}
                  onChange={(event) =>
                    event.currentTarget.checked ? onChange([...chosen, person]) : remove(person.id)
                  }
                />
                <span className={classes.about}>
                  <bdi>{person.name}</bdi>
                  <span className={classes.soft}>{person.email}</span>
                </span>
              </label>
            </li>
          ))}
        </ul>
      ) : null}
      <p className={classes.soft} role="status" hidden={q === '' || data === undefined || found.length > 0}>
        {q !== '' && data && found.length === 0
          ? t(data.everyone ? 'people.noHits' : 'people.none', { query: q })
          : null}
      </p>
    </fieldset>
  );
}
