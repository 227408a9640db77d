import 'virtual:texts/pages';
import 'virtual:texts/palette';
import 'virtual:texts/topics';
import '../dialogs/dialogs.css';
import { searchWords } from '@homeport/contracts/text/search-words';
import { Modal } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Search } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { useReturnFocus } from '../dialogs/use-return-focus.ts';
import { Highlighted } from '../find/highlighted.tsx';
import { takeKeys } from './early-keys.ts';
import classes from './palette.module.css';
import { SearchResult } from './search-result.tsx';
import { keyText } from './shortcuts.ts';
import type { Commands } from './use-commands.ts';
import { type Entry, usePaletteEntries } from './use-palette-entries.ts';

/** One field that leads everywhere: conversations, actions, settings, models. */
export function Palette({ commands, onClose }: { commands: Commands; onClose: () => void }) {
  const t = useText();
  useReturnFocus();
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(text.trim(), 120);
  const { groups, isSearching } = usePaletteEntries(text.trim(), search, commands);
  const entries = useMemo(() => groups.flatMap((group) => group.entries), [groups]);
  const words = useMemo(() => searchWords(text), [text]);
  const [at, setAt] = useState(0);
  /** Enter was pressed before anything was found: the first that is found opens. */
  const [isEntered, setIsEntered] = useState(false);
  const active = entries[Math.min(at, entries.length - 1)];
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);

  useEffect(() => {
    if (active)
      list.current?.querySelector(`[data-entry="${CSS.escape(active.id)}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  const run = (entry: Entry) => {
    onClose();
    // The dialog first returns the focus; the action may need it.
    setTimeout(entry.run);
  };
  const [first] = entries;
  useEffect(() => {
    if (!isEntered || !first) return;
    setIsEntered(false);
    run(first);
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const last = Math.max(0, entries.length - 1);
    const next = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ];
    if (next !== undefined) {
      event.preventDefault();
      setAt(next);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      if (active) run(active);
      else setIsEntered(isSearching);
    }
  };
  return (
    <Modal.Root opened centered={false} onClose={onClose} size="36rem" padding={0} yOffset="12dvh">
      <Modal.Overlay />
      <Modal.Content aria-label={t('palette.title')}>
        <Modal.Body className={classes.body}>
          <div className={classes.field}>
            <Search size={18} aria-hidden />
            <input
              data-autofocus
              value={text}
              onFocus={() => {
                const early = takeKeys();
                if (early !== '') setText(early);
              }}
              onChange={(event) => {
                setText(event.currentTarget.value);
                setAt(0);
                setIsEntered(false);
              }}
              onKeyDown={onKeyDown}
              placeholder={t('palette.placeholder')}
              maxLength={200}
              role="combobox"
              aria-label={t('palette.title')}
              aria-expanded
              aria-controls={listId}
              aria-autocomplete="list"
              aria-activedescendant={active ? `${listId}-${active.id}` : undefined}
              className={classes.input}
            />
          </div>
          <div
            className={classes.list}
            ref={list}
            id={listId}
            role="listbox"
            aria-label={t('palette.results')}
            tabIndex={-1}
          >
            {groups.map((group) => (
              // biome-ignore lint/a11y/useSemanticElements: options of a listbox are grouped by role
              <div key={group.title} role="group" aria-label={group.title}>
                <div className={classes.heading} aria-hidden>
                  {group.title}
                </div>
                {group.entries.map((entry) => (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys of the whole list
                  // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field; it names the active option
                  <div
                    key={entry.id}
                    id={`${listId}-${entry.id}`}
                    data-entry={entry.id}
                    role="option"
                    aria-selected={entry === active}
                    className={classes.entry}
                    onMouseMove={() => setAt(entries.indexOf(entry))}
                    onClick={() => run(entry)}
                  >
                    <entry.Icon size={16} aria-hidden />
                    <span className={classes.label}>
                      <bdi>
                        <Highlighted text={entry.label} words={words} />
                      </bdi>
                      {entry.found ? <SearchResult chat={entry.found} /> : null}
                    </span>
                    {entry.keys ? (
                      <span className={classes.keys} aria-hidden>
                        {entry.keys.map((key) => (
                          <kbd key={key}>{keyText(key, t)}</kbd>
                        ))}
                      </span>
                    ) : null}
                  </div>
                ))}
              </div>
            ))}
          </div>
          {entries.length === 0 && !isSearching ? (
            <p className={classes.none} role="status">
              {t('palette.none', { query: text.trim() })}
            </p>
          ) : null}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
