import '../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { ActionIcon, Button, TextInput } from '@mantine/core';
import { Plus, X } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { useText } from '../i18n/i18n.ts';
import { createId } from '../ids.ts';
import type { Starter } from './assistant-values.ts';
import classes from './assistants.module.css';

type Props = {
  value: readonly Starter[];
  onChange: (starters: Starter[]) => void;
  /** By the paths of a form that has the starters under `starters`. */
  errors: Record<string, ReactNode>;
};

/** Field for the assistant's conversation starters. */
export function StartersField({ value, onChange, errors }: Props) {
  const t = useText();
  const box = useRef<HTMLFieldSetElement>(null);
  const focus = (selector: string) =>
    requestAnimationFrame(() => [...(box.current?.querySelectorAll<HTMLElement>(selector) ?? [])].at(-1)?.focus());
  return (
    <fieldset className={classes.starters} ref={box}>
      <legend>{t('assistant.starters')}</legend>
      <p className={classes.hint}>{t('assistant.startersHint', { max: limits.startersMax })}</p>
      {value.map(({ key, text }, index) => (
        <div key={key} className={classes.starter}>
          <TextInput
            aria-label={t('assistant.starter', { number: index + 1 })}
            value={text}
            onChange={(event) => {
              const next = event.currentTarget.value;
              onChange(value.map((each) => (each.key === key ? { key, text: next } : each)));
            }}
            error={errors[`starters.${index}.text`] ?? errors[`starters.${index}`]}
            autoComplete="off"
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size={36}
            aria-label={t('assistant.starterRemove', { number: index + 1 })}
            onClick={() => {
              onChange(value.filter((each) => each.key !== key));
              focus('[data-add]');
            }}
          >
            <X size={16} />
          </ActionIcon>
        </div>
      ))}
      {value.length < limits.startersMax ? (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Plus size={14} aria-hidden />}
          className={classes.add}
          data-add
          onClick={() => {
            onChange([...value, { key: createId(), text: '' }]);
            focus('input');
          }}
        >
          {t('assistant.starterAdd')}
        </Button>
      ) : null}
    </fieldset>
  );
}
