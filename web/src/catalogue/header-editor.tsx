import '../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { ActionIcon, Button, TextInput } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';
import { Plus, X } from 'lucide-react';
import { useRef } from 'react';
import { Disclosure } from '../forms/disclosure.tsx';
import { useText } from '../i18n/i18n.ts';
import { createId } from '../ids.ts';
import classes from './catalogue.module.css';
import type { HeaderRow } from './provider-values.ts';

/** The form that contains the rows, under `headers`. */
type HeaderForm = {
  values: { headers: HeaderRow[] };
  insertListItem(path: 'headers', row: HeaderRow): void;
  removeListItem(path: 'headers', index: number): void;
  getInputProps(path: string): GetInputPropsReturnType;
};

/** Custom headers of a provider or MCP server, one row each. Collapsed while there are none. */
export function HeaderEditor({ form, hint }: { form: HeaderForm; hint: string }) {
  const t = useText();
  const { headers } = form.values;
  const list = useRef<HTMLDivElement>(null);
  const add = () => {
    form.insertListItem('headers', { key: createId(), name: '', value: '' });
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('[data-row]:last-of-type input')?.focus());
  };
  const remove = (index: number) => {
    form.removeListItem('headers', index);
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('[data-add]')?.focus());
  };
  return (
    <Disclosure label={t('provider.headers')} count={headers.length}>
      <div className={classes.headers} ref={list}>
        <p className={classes.hint}>{hint}</p>
        {headers.map((row, index) => (
          <div key={row.key} className={classes.header} data-row>
            <TextInput
              {...form.getInputProps(`headers.${index}.name`)}
              aria-label={t('provider.headerName', { number: index + 1 })}
              placeholder="X-Example"
              autoComplete="off"
              spellCheck={false}
            />
            <TextInput
              {...form.getInputProps(`headers.${index}.value`)}
              aria-label={t('provider.headerValue', { number: index + 1 })}
              autoComplete="off"
              spellCheck={false}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              aria-label={t('provider.headerRemove', { number: index + 1 })}
              onClick={() => remove(index)}
            >
              <X size={16} />
            </ActionIcon>
          </div>
        ))}
        {headers.length < limits.headerCount ? (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<Plus size={14} aria-hidden />}
            className={classes.addHeader}
            onClick={add}
            data-add
          >
            {t('provider.headerAdd')}
          </Button>
        ) : (
          <p className={classes.hint}>{t('provider.headersMax', { max: limits.headerCount })}</p>
        )}
      </div>
    </Disclosure>
  );
}
