import '../page-texts.ts';
import type { ModelTier, Provider } from '@homeport/contracts/catalogue';
import { searchWords } from '@homeport/contracts/search-words';
import { Popover } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Check, Search, Settings2 } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { enabledModels, matchModels } from '../conversation/model-choice.ts';
import { Highlighted } from '../frame/highlighted.tsx';
import { Anchor, intoView } from '../frame/menu-at.tsx';
import type { MenuPlace } from '../frame/use-menu.ts';
import { i18n, useText } from '../i18n.ts';
import { tierLabel } from '../tier-label.ts';
import classes from './model-menu.module.css';

/** As GET /api/providers answers. */
type Catalogue = { providers: Provider[]; modelTiers: ModelTier[]; canEdit: boolean };
type Props = MenuPlace & {
  catalogue: Catalogue;
  /** Of the model that answers where nobody chooses one. */
  standardName: string;
  /** Undefined while the default is followed. */
  chosenId: string | undefined;
  keeps: boolean;
  onChoose: (modelId: string | undefined) => void;
  onKeeps: (keeps: boolean) => void;
};
type Choice = { id: string | undefined; label: string; detail: string };

/** From so many models on there is a field to search them. */
const searchedFrom = 8;

/** The models by tier, with a search where there are many; one choice closes it. */
export function ModelMenu({ catalogue, standardName, chosenId, keeps, onChoose, onKeeps, button, onClose }: Props) {
  const t = useText();
  const [text, setText] = useState('');
  const { groups, choices } = useChoices(catalogue, standardName, text);
  const chosenAt = choices.findIndex((choice) => choice.id === chosenId);
  const [at, setAt] = useState(Math.max(0, chosenAt));
  const active = choices[Math.min(at, choices.length - 1)];
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const optionId = (choice: Choice) => `${listId}-${choice.id ?? 'default'}`;
  const hasSearch = enabledModels(catalogue.providers).length >= searchedFrom;
  const words = searchWords(text);

  const activeId = active ? optionId(active) : undefined;
  useEffect(() => {
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' });
  }, [activeId]);
  const choose = (choice: Choice) => {
    onChoose(choice.id);
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const last = Math.max(0, choices.length - 1);
    const next = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ];
    const isChoice = event.key === 'Enter' || (event.key === ' ' && !hasSearch);
    if (next === undefined && !isChoice) return;
    event.preventDefault();
    if (next !== undefined) setAt(next);
    else if (active) choose(active);
  };
  // The focus is in the field, or in the list where there is none; either names the active option. On a touch screen the
  // field waits until it is touched: it would bring up the keyboard over the list.
  const held = { onKeyDown, 'aria-activedescendant': activeId };
  const startsInField = hasSearch && !matchMedia('(pointer: coarse)').matches;
  return (
    <Popover
      opened
      onChange={(isOpen) => isOpen || onClose()}
      position="top-start"
      width={300}
      offset={8}
      trapFocus
      withinPortal={false}
      floatingStrategy="fixed"
      shadow="md"
      radius="md"
      transitionProps={{ duration: 80 }}
      middlewares={intoView}
    >
      <Popover.Target>
        <Anchor element={button} />
      </Popover.Target>
      <Popover.Dropdown aria-label={t('model.choose')} aria-labelledby={undefined} className={classes.menu}>
        {hasSearch ? (
          <div className={classes.field}>
            <Search size={15} aria-hidden />
            <input
              {...held}
              data-autofocus={startsInField || undefined}
              value={text}
              onChange={(event) => {
                setText(event.currentTarget.value);
                setAt(0);
              }}
              role="combobox"
              aria-expanded
              aria-controls={listId}
              aria-autocomplete="list"
              aria-label={t('model.search')}
              placeholder={t('model.search')}
              maxLength={200}
              className={classes.input}
            />
          </div>
        ) : null}
        <div
          ref={list}
          id={listId}
          role="listbox"
          aria-label={t('model.choose')}
          className={classes.list}
          {...held}
          data-autofocus={startsInField ? undefined : true}
          tabIndex={hasSearch ? -1 : 0}
        >
          {groups.map((group) => (
            // biome-ignore lint/a11y/useSemanticElements: options of a listbox are grouped by role
            <div key={group.title} role="group" aria-label={group.title}>
              {group.isTitled ? (
                <div className={classes.heading} aria-hidden>
                  {group.title}
                </div>
              ) : null}
              {group.choices.map((choice) => (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the list or the field above handles the keys
                // biome-ignore lint/a11y/useFocusableInteractive: the focus stays where it is and names the active option
                <div
                  key={choice.id ?? 'default'}
                  id={optionId(choice)}
                  role="option"
                  aria-selected={choice.id === chosenId}
                  data-active={choice === active || undefined}
                  className={classes.option}
                  onMouseMove={() => setAt(choices.indexOf(choice))}
                  onClick={() => choose(choice)}
                >
                  <span className={classes.choice}>
                    <bdi className={classes.name}>
                      <Highlighted text={choice.label} words={words} />
                    </bdi>
                    <span className={classes.detail}>{choice.detail}</span>
                  </span>
                  {choice.id === chosenId ? <Check size={16} aria-hidden className={classes.check} /> : null}
                </div>
              ))}
            </div>
          ))}
        </div>
        {choices.length === 0 ? (
          <p className={classes.none} role="status">
            {t('model.noHits', { query: text.trim() })}
          </p>
        ) : null}
        <div className={classes.foot}>
          <label className={classes.keeps}>
            <input type="checkbox" checked={keeps} onChange={(event) => onKeeps(event.currentTarget.checked)} />
            {t('model.pin')}
          </label>
          {catalogue.canEdit ? (
            <Link to="/settings/models" className={classes.settings}>
              <Settings2 size={15} aria-hidden />
              {t('model.settings')}
            </Link>
          ) : null}
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

/** What can be chosen, as the search leaves it: the default first, then the tiers in their order. */
function useChoices({ providers, modelTiers }: Catalogue, standardName: string, text: string) {
  const t = useText();
  const first: Choice = { id: undefined, label: t('model.default'), detail: standardName };
  const tiers = matchModels(providers, modelTiers, text).map((group) => ({
    title: tierLabel(group.tier, t),
    isTitled: true,
    choices: group.models.map((model) => ({
      id: model.id,
      label: model.displayName,
      detail: t('model.context', { count: compact(model.contextWindow) }),
    })),
  }));
  const top = { title: first.label, isTitled: false, choices: [first] };
  const groups = text.trim() === '' ? [top, ...tiers] : tiers;
  return { groups, choices: groups.flatMap((group): Choice[] => group.choices) };
}

function compact(count: number): string {
  return new Intl.NumberFormat(i18n.locale, { notation: 'compact' }).format(count);
}
