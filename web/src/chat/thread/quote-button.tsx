import { Button } from '@mantine/core';
import { Quote } from 'lucide-react';
import { type RefObject, useEffect, useState } from 'react';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from './thread.module.css';

type Selected = { text: string; top: number; left: number };

const maximumQuote = 8_000;

/** Offers to quote what is selected in a message. */
export function QuoteButton({ thread }: { thread: RefObject<HTMLElement | null> }) {
  const t = useText();
  const { quote } = useThreadActions();
  const [selected, setSelected] = useState<Selected>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      timer = setTimeout(() => setSelected(selectionIn(thread.current)), 150);
    };
    document.addEventListener('selectionchange', look);
    const box = thread.current;
    // An answer that streams in scrolls all the time, mostly with nothing selected.
    const onScroll = () => {
      if (document.getSelection()?.isCollapsed === false) look();
    };
    box?.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      clearTimeout(timer);
      document.removeEventListener('selectionchange', look);
      box?.removeEventListener('scroll', onScroll);
    };
  }, [thread]);
  if (!selected) return null;
  return (
    <Button
      size="compact-sm"
      variant="default"
      className={classes.quote}
      style={{ top: selected.top, left: selected.left }}
      leftSection={<Quote size={13} aria-hidden />}
      // Pressing it must not lose the selection it is about.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => {
        quote(selected.text);
        document.getSelection()?.removeAllRanges();
      }}
    >
      {t('message.quote')}
    </Button>
  );
}

/** Selected text inside one message, and the button's position above it, relative to the thread. */
function selectionIn(thread: HTMLElement | null): Selected | undefined {
  const selection = document.getSelection();
  if (!thread || !selection || selection.isCollapsed || selection.rangeCount === 0) return undefined;
  const text = selection.toString().trim().slice(0, maximumQuote);
  const messageOf = (node: Node | null) =>
    (node instanceof Element ? node : node?.parentElement)?.closest('[data-part="text"]');
  if (text === '' || !thread.contains(selection.anchorNode) || !messageOf(selection.anchorNode)) return undefined;
  const frame = thread.getBoundingClientRect();
  const box = selection.getRangeAt(0).getBoundingClientRect();
  const above = box.top - frame.top - 36;
  return {
    text,
    top: Math.max(8, above < 8 ? Math.min(box.bottom - frame.top + 8, frame.height - 40) : above),
    left: Math.min(Math.max(8, box.left - frame.left), frame.width - 110),
  };
}
