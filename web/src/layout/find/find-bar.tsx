import 'virtual:texts/pages';
import 'virtual:texts/palette';
import { hasAllWords, searchWords } from '@homeport/contracts/text/search-words';
import { ActionIcon } from '@mantine/core';
import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from './find-bar.module.css';
import { clearHits, findRanges, nextPaint, revealRange, showHits } from './thread-hits.ts';

type Props = { store: ConversationStore; title: string; query: string; onClose: () => void };

/** How many pages of older messages are read in search of a hit. */
const maximumPages = 20;
/** Milliseconds between a change to the thread and the next search for hits. */
const settleTime = 250;

/** The hits of a search in the open conversation: shows where they are and moves between them. */
export function FindBar({ store, title, query, onClose }: Props) {
  const t = useText();
  const [ranges, setRanges] = useState<readonly Range[]>([]);
  const [at, setAt] = useState(0);
  const [isSearching, setSearching] = useState(true);
  const latest = useRef({ at, title });
  latest.current = { at, title };

  useEffect(() => {
    const words = searchWords(query);
    const abort = new AbortController();
    const { signal } = abort;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      setSearching(true);
      const found = await findWithin(store, words, latest.current.title, signal);
      if (signal.aborted) return;
      setSearching(false);
      setRanges(found);
      const last = Math.max(0, found.length - 1);
      setAt(last);
      show(found, last);
      // Text that streams in or is loaded later is searched too, without scrolling anybody away.
      const scroller = document.querySelector('[role="log"]');
      if (scroller) observer.observe(scroller, { childList: true, subtree: true, characterData: true });
    };
    const observer = new MutationObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const found = findRanges(words);
        setRanges(found);
        showHits(found, Math.min(latest.current.at, found.length - 1));
      }, settleTime);
    });
    void look();
    return () => {
      abort.abort();
      observer.disconnect();
      clearTimeout(timer);
      clearHits();
    };
  }, [store, query]);

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
      if (document.querySelector('[role="dialog"], [role="menu"]')) return;
      event.preventDefault();
      onClose();
    };
    // Before the page's shortcuts: this Escape closes the bar and stops nothing.
    window.addEventListener('keydown', onKeyDown, true);
    return () => window.removeEventListener('keydown', onKeyDown, true);
  }, [onClose]);

  const step = (by: number) => {
    const next = (at + by + ranges.length) % ranges.length;
    setAt(next);
    show(ranges, next);
  };
  const hasHits = ranges.length > 0;
  return (
    <search className={classes.bar} aria-label={t('find.label')}>
      <span className={classes.query}>
        <bdi>{query}</bdi>
      </span>
      <span role="status" className={classes.count}>
        {status()}
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('find.previous')}
        disabled={!hasHits}
        onClick={() => step(-1)}
      >
        <ChevronUp size={17} />
      </ActionIcon>
      <ActionIcon variant="subtle" color="gray" aria-label={t('find.next')} disabled={!hasHits} onClick={() => step(1)}>
        <ChevronDown size={17} />
      </ActionIcon>
      <ActionIcon variant="subtle" color="gray" aria-label={t('find.close')} onClick={onClose}>
        <X size={16} />
      </ActionIcon>
    </search>
  );

  function status(): string {
    if (isSearching) return t('find.searching');
    if (hasHits) return t('find.count', { index: Math.min(at, ranges.length - 1) + 1, count: ranges.length });
    return t(hasAllWords(title, searchWords(query)) ? 'find.inTitle' : 'find.none');
  }
}

/** Reads older pages until a message contains the words; a hit in the title alone needs none. */
async function findWithin(
  store: ConversationStore,
  words: readonly string[],
  title: string,
  signal: AbortSignal,
): Promise<Range[]> {
  await ready(store, signal);
  for (let page = 0; ; page += 1) {
    await nextPaint();
    const found = findRanges(words);
    const isEnd = store.getView().nextBefore === null || page === maximumPages || hasAllWords(title, words);
    if (found.length > 0 || isEnd || signal.aborted) return found;
    try {
      await store.loadOlder();
    } catch {
      return [];
    }
  }
}

function ready(store: ConversationStore, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (store.getView().phase === 'loading' && !signal.aborted) return;
      stop();
      resolve();
    };
    const stop = store.subscribe(check);
    signal.addEventListener('abort', check);
    check();
  });
}

function show(ranges: readonly Range[], at: number): void {
  showHits(ranges, at);
  const range = ranges[at];
  if (range) revealRange(range);
}
