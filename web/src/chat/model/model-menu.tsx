import 'virtual:texts/catalogue';
import 'virtual:texts/pages';
import type { Model, ModelTier, Provider } from '@homeport/contracts/catalogue/catalogue';
import { searchWords } from '@homeport/contracts/text/search-words';
import { Popover } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Check, Search, Settings2, Star } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { enabledModels } from '../../conversation/choices/model-choice.ts';
import {
  groupModels,
  type ModelPreferences,
  readModelPreferences,
  rememberUsed,
  toggleFavorite,
} from '../../conversation/choices/model-preferences.ts';
import { useText } from '../../i18n/i18n.ts';
import { tierLabel } from '../../i18n/tier-label.ts';
import { Highlighted } from '../../layout/find/highlighted.tsx';
import { Anchor, intoView } from '../../layout/menus/anchored-menu.tsx';
import type { MenuPlace } from '../../layout/menus/use-menu.ts';
import { ModelBadges } from './model-badges.tsx';
import classes from './model-menu.module.css';

/** As GET /api/providers answers. */
type Catalogue = { providers: Provider[]; modelTiers: ModelTier[]; canEdit: boolean };
type Props = MenuPlace & {
  catalogue: Catalogue;
  /** The default model. */
  standard: Model | undefined;
  /** Undefined while the default is followed. */
  chosenId: string | undefined;
  keeps: boolean;
  onChoose: (modelId: string | undefined) => void;
  onKeeps: (keeps: boolean) => void;
};
type Choice = { id: string | undefined; label: string; detail: ReactNode };

/** From so many models on there is a field to search them. */
const searchedFrom = 8;

/** The models by tier, with a search where there are many; one choice closes it. */
export function ModelMenu({ catalogue, standard, chosenId, keeps, onChoose, onKeeps, button, onClose }: Props) {
  const t = useText();
  const [text, setText] = useState('');
  const [preferences, setPreferences] = useState(readModelPreferences);
  const { groups, choices } = useChoices({ catalogue, standard, preferences, chosenId, text });
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
    if (choice.id !== undefined) rememberUsed(choice.id);
    onChoose(choice.id);
    onClose();
  };
  const toggle = (id: string) => {
    toggleFavorite(id);
    setPreferences(readModelPreferences());
  };
  const answering =
    chosenId === undefined ? standard : enabledModels(catalogue.providers).find(({ id }) => id === chosenId);
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
  // The focus is in the field, or in the list where there is none; either names the active option. On a touch screen
  // the field waits until it is touched: it would bring up the keyboard over the list.
  const held = { onKeyDown, 'aria-activedescendant': activeId };
  const startsInField = hasSearch && !matchMedia('(pointer: coarse)').matches;
  return (
    <Popover
      opened
      onChange={(isOpen) => isOpen || onClose()}
      position="top-start"
      width={340}
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
                <Option
                  key={choice.id ?? 'default'}
                  id={optionId(choice)}
                  choice={choice}
                  words={words}
                  isChosen={choice.id === chosenId}
                  isActive={choice === active}
                  isFavorite={choice.id !== undefined && preferences.favorites.includes(choice.id)}
                  onPoint={() => setAt(choices.indexOf(choice))}
                  onChoose={() => choose(choice)}
                  onFavorite={toggle}
                />
              ))}
            </div>
          ))}
        </div>
        {choices.length === 0 ? (
          <p className={classes.none} role="status">
            {t('model.noHits', { query: text.trim() })}
          </p>
        ) : null}
        <Foot
          keeps={keeps}
          onKeeps={onKeeps}
          answering={answering}
          isFavorite={answering !== undefined && preferences.favorites.includes(answering.id)}
          onFavorite={toggle}
          canEdit={catalogue.canEdit}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

type OptionProps = {
  id: string;
  choice: Choice;
  words: readonly string[];
  isChosen: boolean;
  isActive: boolean;
  isFavorite: boolean;
  onPoint: () => void;
  onChoose: () => void;
  onFavorite: (modelId: string) => void;
};

function Option({ id, choice, words, isChosen, isActive, isFavorite, onPoint, onChoose, onFavorite }: OptionProps) {
  const { id: modelId, label, detail } = choice;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list or the field above handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays where it is and names the active option
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      data-active={isActive || undefined}
      className={classes.option}
      onMouseMove={onPoint}
      onClick={onChoose}
    >
      <span className={classes.choice}>
        <bdi className={classes.name}>
          <Highlighted text={label} words={words} />
        </bdi>
        <span className={classes.detail}>{detail}</span>
      </span>
      {modelId === undefined ? null : (
        <span
          aria-hidden
          className={classes.star}
          data-marked={isFavorite || undefined}
          onClick={(event) => {
            event.stopPropagation();
            onFavorite(modelId);
          }}
        >
          <Star size={15} />
        </span>
      )}
      {isChosen ? <Check size={16} aria-hidden className={classes.check} /> : null}
    </div>
  );
}

type FootProps = {
  keeps: boolean;
  onKeeps: (keeps: boolean) => void;
  /** The model of the next answer: the only one that the keyboard can make a favorite. */
  answering: Model | undefined;
  isFavorite: boolean;
  onFavorite: (modelId: string) => void;
  canEdit: boolean;
};

function Foot({ keeps, onKeeps, answering, isFavorite, onFavorite, canEdit }: FootProps) {
  const t = useText();
  return (
    <div className={classes.foot}>
      <label className={classes.keeps}>
        <input type="checkbox" checked={keeps} onChange={(event) => onKeeps(event.currentTarget.checked)} />
        {t('model.pin')}
      </label>
      {answering ? (
        <label className={classes.keeps}>
          <input type="checkbox" checked={isFavorite} onChange={() => onFavorite(answering.id)} />
          <span className={classes.name}>{t('picker.favourite', { name: answering.displayName })}</span>
        </label>
      ) : null}
      {canEdit ? (
        <Link to="/settings/models" className={classes.settings}>
          <Settings2 size={15} aria-hidden />
          {t('model.settings')}
        </Link>
      ) : null}
    </div>
  );
}

type Shown = {
  catalogue: Catalogue;
  standard: Model | undefined;
  preferences: ModelPreferences;
  chosenId: string | undefined;
  text: string;
};

/** Filtered choices: the default, favorite models, recently used ones, then the tiers in their order. */
function useChoices({ catalogue, standard, preferences, chosenId, text }: Shown) {
  const t = useText();
  const first: Choice = { id: undefined, label: t('model.default'), detail: standard?.displayName ?? '' };
  const hasTop = text.trim() === '';
  // The first choice names the default model already.
  const isShown = ({ model: { id } }: { model: Model }) => !hasTop || id !== standard?.id || id === chosenId;
  const shown = groupModels(catalogue, preferences, chosenId, text).map((group) => ({
    title:
      group.kind === 'tier'
        ? tierLabel(group.tier, t)
        : t(group.kind === 'favorites' ? 'picker.favourites' : 'picker.recent'),
    isTitled: group.kind !== 'tier' || !group.isAlone,
    choices: group.entries.filter(isShown).map(({ model, provider }) => ({
      id: model.id,
      label: model.displayName,
      detail: <ModelBadges model={model} providerName={provider.name} />,
    })),
  }));
  const top = { title: first.label, isTitled: false, choices: [first] };
  const groups = (hasTop ? [top, ...shown] : shown).filter((group) => group.choices.length > 0);
  return { groups, choices: groups.flatMap((group): Choice[] => group.choices) };
}
