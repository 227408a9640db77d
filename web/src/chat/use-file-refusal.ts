import { limits } from '@homeport/contracts/limits';
import { type ClipboardEvent, useEffect, useState } from 'react';
import { useText } from '../i18n.ts';

const shownFor = 10_000;

/** Files that are pasted or dropped are refused with words; the browser would leave the page for them. */
export function useFileRefusal() {
  const t = useText();
  const [count, setCount] = useState(0);
  const isShown = count > 0;
  useEffect(() => {
    if (count === 0) return;
    const timer = setTimeout(() => setCount(0), shownFor);
    return () => clearTimeout(timer);
  }, [count]);
  useEffect(() => {
    const isFiles = (event: globalThis.DragEvent) => event.dataTransfer?.types.includes('Files') === true;
    const onDragOver = (event: globalThis.DragEvent) => isFiles(event) && event.preventDefault();
    const onDrop = (event: globalThis.DragEvent) => {
      if (!isFiles(event)) return;
      event.preventDefault();
      setCount((before) => before + 1);
    };
    window.addEventListener('dragover', onDragOver);
    window.addEventListener('drop', onDrop);
    return () => {
      window.removeEventListener('dragover', onDragOver);
      window.removeEventListener('drop', onDrop);
    };
  }, []);
  return {
    notices: isShown ? [t('composer.noFiles', { max: limits.messageTextMax })] : [],
    /** True when it was files, and nothing else, that were pasted. */
    onPaste: (event: ClipboardEvent): boolean => {
      const { clipboardData } = event;
      if (clipboardData.files.length === 0 || clipboardData.types.includes('text/plain')) return false;
      event.preventDefault();
      setCount((before) => before + 1);
      return true;
    },
  };
}
