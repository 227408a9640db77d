import type { KeyboardEvent, PointerEvent } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { clampPanelWidth, panelWidths } from './panel-width.ts';
import classes from './side-panel.module.css';

type Props = {
  /** In rem. */
  width: number;
  /** `isDone`: the pointer let go, or a key was pressed. Undefined: back to the usual width. */
  onChange: (width: number | undefined, isDone: boolean) => void;
};

const stepRem = 2;

/** The edge of a panel: drawn with the pointer, moved with the arrow keys, reset with a double click. */
export function PanelResizer({ width, onChange }: Props) {
  const t = useText();
  const draw = (event: PointerEvent<HTMLElement>, isDone: boolean) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const panel = event.currentTarget.parentElement?.getBoundingClientRect();
    if (panel === undefined) return;
    const isRightToLeft = getComputedStyle(event.currentTarget).direction === 'rtl';
    const pixels = isRightToLeft ? event.clientX - panel.left : panel.right - event.clientX;
    onChange(clampPanelWidth(pixels / remPixels()), isDone);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const isRightToLeft = getComputedStyle(event.currentTarget).direction === 'rtl';
    const wider = isRightToLeft ? 'ArrowRight' : 'ArrowLeft';
    const narrower = isRightToLeft ? 'ArrowLeft' : 'ArrowRight';
    // The style sheet possibly limits the width.
    const shown = (event.currentTarget.parentElement?.getBoundingClientRect().width ?? 0) / remPixels();
    const next = {
      [wider]: shown + stepRem,
      [narrower]: shown - stepRem,
      Home: panelWidths.min,
      End: panelWidths.max,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onChange(clampPanelWidth(next), true);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an hr cannot be moved
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={t('panel.resize')}
      aria-valuenow={Math.round(width)}
      aria-valuemin={panelWidths.min}
      aria-valuemax={panelWidths.max}
      tabIndex={0}
      title={t('panel.resizeHint')}
      className={classes.resizer}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => draw(event, false)}
      onPointerUp={(event) => draw(event, true)}
      onDoubleClick={() => onChange(undefined, true)}
      onKeyDown={onKeyDown}
    />
  );
}

function remPixels(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
}
