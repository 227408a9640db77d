import '../../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { ActionIcon, TextInput, type TextInputProps } from '@mantine/core';
import { ArrowDown, ArrowUp, GripVertical, X } from 'lucide-react';
import { useText } from '../../i18n/i18n.ts';
import type { TierRow } from './tier-rows.ts';
import classes from './tiers.module.css';

type Props = {
  row: TierRow;
  index: number;
  count: number;
  modelCount: number;
  input: TextInputProps;
  isDragged: boolean;
  onMove: (to: number, button: 'up' | 'down') => void;
  onRemove: () => void;
  onDrag: (isDragged: boolean) => void;
  onDragOver: () => void;
};

/** One tier: its name, its place, away with it. Dragging is for the mouse, the buttons are for everybody. */
export function TierItem({ row, index, count, modelCount, input, isDragged, ...on }: Props) {
  const t = useText();
  const name = row.label.trim() || t('tiers.newLabel');
  return (
    <li
      className={classes.item}
      data-tier={row.value}
      data-dragged={isDragged || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        on.onDragOver();
      }}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: only the mouse drags; the buttons do the same for everybody */}
      <span
        className={classes.grip}
        draggable
        title={t('tiers.drag')}
        onDragStart={(event) => {
          event.dataTransfer.effectAllowed = 'move';
          const item = event.currentTarget.parentElement;
          if (item) event.dataTransfer.setDragImage(item, 12, 20);
          on.onDrag(true);
        }}
        onDragEnd={() => on.onDrag(false)}
      >
        <GripVertical size={16} aria-hidden />
      </span>
      <TextInput
        {...input}
        aria-label={t('tiers.label', { number: index + 1 })}
        placeholder={t('tiers.newLabel')}
        maxLength={limits.tierLabelMax}
        autoComplete="off"
        className={classes.field}
      />
      <span className={classes.used}>{t('tiers.models', { count: modelCount })}</span>
      <span className={classes.buttons}>
        <MoveButton
          button="up"
          label={t('tiers.up', { name })}
          isOff={index === 0}
          onMove={() => on.onMove(index - 1, 'up')}
        />
        <MoveButton
          button="down"
          label={t('tiers.down', { name })}
          isOff={index === count - 1}
          onMove={() => on.onMove(index + 1, 'down')}
        />
        <ActionIcon
          variant="subtle"
          color="gray"
          size={30}
          aria-label={t('tiers.remove', { name })}
          disabled={count === 1}
          onClick={on.onRemove}
        >
          <X size={16} />
        </ActionIcon>
      </span>
    </li>
  );
}

function MoveButton({
  button,
  label,
  isOff,
  onMove,
}: {
  button: 'up' | 'down';
  label: string;
  isOff: boolean;
  onMove: () => void;
}) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={30}
      aria-label={label}
      aria-disabled={isOff}
      className={classes.move}
      data-move={button}
      onClick={() => !isOff && onMove()}
    >
      {button === 'up' ? <ArrowUp size={16} /> : <ArrowDown size={16} />}
    </ActionIcon>
  );
}
