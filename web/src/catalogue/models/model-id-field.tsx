import '../../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Disclosure } from '../../forms/disclosure.tsx';
import { textFault } from '../../forms/rules.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from './model-chooser.module.css';

/** Selects a model that the provider does not list. */
export function ModelIdField({ isTaken, onAdd }: { isTaken: (id: string) => boolean; onAdd: (id: string) => void }) {
  const t = useText();
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const add = () => {
    const id = text.trim();
    const next = textFault(id, limits.providerModelIdMax, t) ?? (isTaken(id) ? t('choose.byIdTaken') : null);
    setFault(next);
    if (next !== null) return;
    onAdd(id);
    setText('');
  };
  return (
    <Disclosure label={t('choose.byId')}>
      <div className={classes.byId}>
        <TextInput
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setFault(null);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
            event.preventDefault();
            add();
          }}
          error={fault}
          label={t('choose.byIdLabel')}
          description={t('choose.byIdHint')}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
        />
        <Button variant="default" onClick={add}>
          {t('choose.byIdAction')}
        </Button>
      </div>
    </Disclosure>
  );
}
