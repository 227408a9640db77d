import { UnstyledButton } from '@mantine/core';
import { ChevronDown, Pin } from 'lucide-react';
import { useState } from 'react';
import { enabledModels } from '../../conversation/choices/model-choice.ts';
import { useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import { useMenu } from '../../layout/menus/use-menu.ts';
import classes from './model-picker.module.css';
import type { AnsweringModel } from './use-answering-model.ts';

const ModelMenu = lazyComponent(async () => (await import('./model-menu.tsx')).ModelMenu);

type Props = {
  /** The conversation does not exist yet. */
  isNew: boolean;
  answering: AnsweringModel;
  isDisabled: boolean;
};

/** Shows and changes the model of the next answer: the default, or one for this conversation or for one turn. */
export function ModelPicker({ isNew, answering, isDisabled }: Props) {
  const t = useText();
  const [keeps, setKeeps] = useState(true);
  const { place, buttonProps } = useMenu(ModelMenu, 'dialog');
  const { catalogue: data, model, standard, kind, setDecision } = answering;
  const name = model?.displayName ?? t(data ? 'model.none' : 'app.loading');
  const choose = (modelId: string, isKept: boolean) =>
    setDecision(isKept ? { kind: 'pin', modelId } : { kind: 'once', modelId });
  return (
    <>
      <UnstyledButton
        className={classes.target}
        aria-label={t('model.label', { name })}
        disabled={isDisabled || enabledModels(data?.providers ?? []).length === 0}
        {...buttonProps}
      >
        {kind === 'pin' ? <Pin size={13} aria-hidden /> : null}
        <span className={classes.name}>{name}</span>
        {kind === 'once' ? <span className={classes.mark}>{t('model.once')}</span> : null}
        <ChevronDown size={14} aria-hidden className={classes.chevron} />
      </UnstyledButton>
      {place && data ? (
        <ModelMenu
          {...place}
          catalogue={data}
          standard={standard}
          chosenId={kind === 'default' ? undefined : model?.id}
          keeps={keeps}
          onChoose={(modelId) => {
            if (modelId !== undefined) choose(modelId, keeps);
            else setDecision(isNew ? { kind: 'keep' } : { kind: 'default' });
          }}
          onKeeps={(isKept) => {
            setKeeps(isKept);
            if (model && kind !== 'default') choose(model.id, isKept);
          }}
        />
      ) : null}
    </>
  );
}
