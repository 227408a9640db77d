import { useMantineColorScheme } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { copyText } from '../../clipboard.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { showFailure, showToast } from '../toasts.tsx';
import { type KeyPress, type Shortcut, shortcutOf } from './shortcuts.ts';

export type Commands = Record<Exclude<Shortcut, 'editLast'>, () => void> & { editLast: () => boolean };
export type FrameCommands = Pick<Commands, 'palette' | 'help' | 'sidebar'>;

/** Commands of shortcuts and the palette. */
export function useCommands(frame: FrameCommands): Commands {
  const t = useText();
  const navigate = useNavigate();
  const { chatId } = useParams({ strict: false });
  const { conversation } = useClientSession();
  const store = chatId === undefined ? undefined : conversation(chatId);
  return {
    ...frame,
    newConversation: () => void navigate({ to: '/' }).then(focusComposer),
    focusComposer,
    copyLast: () => {
      const answer = store?.getView().messages.findLast((message) => message.role === 'assistant');
      const text = answer?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n') ?? '';
      if (text === '') return showToast(t('command.nothingToCopy'));
      void copyText(text).then((isCopied) => showToast(t(isCopied ? 'command.copied' : 'command.notCopied')));
    },
    stop: () => {
      if (!store?.getView().response) return;
      store.stop().catch((error: unknown) => showFailure(t('composer.stop'), failureText(error, t)));
    },
    editLast: () => {
      const edit = [...document.querySelectorAll('[data-role="user"]')]
        .at(-1)
        ?.querySelector<HTMLElement>('[data-action="edit"]:not(:disabled)');
      edit?.click();
      return edit !== undefined && edit !== null;
    },
  };
}

/** Listens to the keyboard for the whole page. */
export function useShortcuts(commands: Commands): void {
  const latest = useRef(commands);
  latest.current = commands;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const shortcut = shortcutOf(readPress(event));
      if (!shortcut) return;
      const isDone = latest.current[shortcut]();
      // Escape keeps its own meaning too; an arrow key that edits nothing stays an arrow key.
      if (shortcut !== 'stop' && isDone !== false) event.preventDefault();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}

/** The color schemes, for commands that change them. */
export function useSchemes() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return { schemes: (['auto', 'light', 'dark'] as const).filter((scheme) => scheme !== colorScheme), setColorScheme };
}

const composerField = '[data-composer]';

function focusComposer(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(composerField)?.focus());
}

function readPress(event: KeyboardEvent): KeyPress {
  const target = event.target instanceof HTMLElement ? event.target : document.body;
  const isComposer = target.matches(composerField);
  return {
    key: event.key,
    code: event.code,
    isMod: event.ctrlKey || event.metaKey,
    isShift: event.shiftKey,
    isAlt: event.altKey,
    isComposing: event.isComposing || event.keyCode === 229,
    place: placeOf(target, isComposer),
    isComposerEmpty: isComposer && target instanceof HTMLTextAreaElement && target.value === '',
  };
}

function placeOf(target: HTMLElement, isComposer: boolean): KeyPress['place'] {
  if (document.querySelector('[role="dialog"], [role="menu"], [role="listbox"]')) return 'overlay';
  if (isComposer) return 'composer';
  return target.isContentEditable || target.matches('input, textarea, select') ? 'typing' : 'page';
}
