import 'virtual:texts/context';
import { Menu, UnstyledButton } from '@mantine/core';
import { Brain, ChevronDown } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { type Effort, efforts } from '../../conversation/choices/effort.ts';
import { useText } from '../../i18n/i18n.ts';
import { AnchoredMenu } from '../../layout/menus/anchored-menu.tsx';
import classes from './model-picker.module.css';
import type { EffortState } from './use-effort.ts';

type Props = {
  effort: EffortState;
  /** Efforts that the model supports. */
  offered: readonly Effort[];
  /** The effort in force while none is chosen. */
  inherited: Effort | undefined;
  isDisabled: boolean;
};

const followed = 'default';

/** How long the model thinks before the next answers of this conversation. */
export function EffortPicker({ effort, offered, inherited, isDisabled }: Props) {
  const t = useText();
  const button = useRef<HTMLButtonElement>(null);
  const [place, setPlace] = useState<HTMLElement>();
  const { chosen, asked, choose } = effort;
  const onClose = useCallback(() => {
    button.current?.focus({ preventScroll: true });
    setPlace(undefined);
  }, []);
  // Opened from the composer's menu: show the choices immediately.
  useEffect(() => {
    if (asked > 0) setPlace(button.current ?? undefined);
  }, [asked]);
  const name = t(`effort.${chosen ?? inherited ?? followed}`);
  const defaultName = inherited ? t('effort.defaultNamed', { name: t(`effort.${inherited}`) }) : t('effort.default');
  return (
    <>
      <UnstyledButton
        ref={button}
        className={classes.target}
        aria-label={t('effort.label', { name })}
        title={t('effort.label', { name })}
        aria-haspopup="menu"
        aria-expanded={place !== undefined}
        disabled={isDisabled}
        onClick={(event) => setPlace(place ? undefined : event.currentTarget)}
      >
        <Brain size={14} aria-hidden className={classes.chevron} />
        <span className={classes.name} data-default={chosen === undefined || undefined}>
          {name}
        </span>
        <ChevronDown size={14} aria-hidden className={classes.chevron} />
      </UnstyledButton>
      {place ? (
        <AnchoredMenu
          button={place}
          onClose={onClose}
          label={t('effort.title')}
          position="top-start"
          width={240}
          offset={8}
        >
          <Menu.RadioGroup
            value={chosen ?? followed}
            onChange={(value) => choose(efforts.find((each) => each === value))}
          >
            <Menu.Label>{t('effort.title')}</Menu.Label>
            <Menu.RadioItem value={followed} closeMenuOnClick>
              {defaultName}
            </Menu.RadioItem>
            {offered.map((each) => (
              <Menu.RadioItem key={each} value={each} closeMenuOnClick>
                {t(`effort.${each}`)}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <p className={classes.about}>{t('effort.about')}</p>
        </AnchoredMenu>
      ) : null}
    </>
  );
}
