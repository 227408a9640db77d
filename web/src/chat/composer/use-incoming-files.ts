import { type ClipboardEvent, useCallback, useEffect, useRef, useState } from 'react';
import { filesName, parseAttached, uploadingChats } from '../../conversation/draft/attached-files.ts';
import { useDraft } from '../../conversation/use-draft.ts';
import type { TrayBlock } from '../../files/attachments/attachment-tray.tsx';
import { droppedFiles, holdsFiles, type IncomingFiles } from '../../incoming-files.ts';

/**
 * Files that are dropped anywhere on the page or pasted. While files are held over the page `isOver` is true. Without
 * this the browser would leave the page for a dropped file.
 */
export function useIncomingFiles(onFiles: (incoming: IncomingFiles) => void) {
  const [isOver, setOver] = useState(false);
  const listener = useRef(onFiles);
  useEffect(() => {
    listener.current = onFiles;
  });
  useEffect(() => {
    const onDragOver = (event: DragEvent) => {
      if (!holdsFiles(event.dataTransfer)) return;
      event.preventDefault();
      // Parts of the page with their own drop handling are marked.
      setOver(!(event.target instanceof Element && event.target.closest('[data-drop-zone]')));
    };
    // Leaving an element enters another; only what leaves the window has no other.
    const onDragLeave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const onDrop = (event: DragEvent) => {
      setOver(false);
      if (!holdsFiles(event.dataTransfer) || event.defaultPrevented) return;
      event.preventDefault();
      listener.current(droppedFiles(event.dataTransfer));
    };
    window.addEventListener('dragover', onDragOver);
    window.addEventListener('dragleave', onDragLeave);
    window.addEventListener('drop', onDrop);
    return () => {
      window.removeEventListener('dragover', onDragOver);
      window.removeEventListener('dragleave', onDragLeave);
      window.removeEventListener('drop', onDrop);
    };
  }, []);
  return {
    isOver,
    /** True when it was files, and nothing else, that were pasted. */
    onPaste: (event: ClipboardEvent): boolean => {
      const { clipboardData } = event;
      if (clipboardData.files.length === 0 || clipboardData.types.includes('text/plain')) return false;
      event.preventDefault();
      listener.current({ files: Array.from(clipboardData.files, named), folders: 0 });
      return true;
    },
  };
}

/** The attached files of the next message, and files on their way into the tray. `block` prevents sending. */
export function useAttachments(chatId: string) {
  const files = parseAttached(useDraft(filesName(chatId)).text);
  const [incoming, setIncoming] = useState<IncomingFiles>();
  const [showsTray, setShowsTray] = useState(() => uploadingChats.has(chatId));
  const [block, setBlock] = useState<TrayBlock>();
  const clearIncoming = useCallback(() => setIncoming(undefined), []);
  const take = (taken: IncomingFiles) => {
    setIncoming(taken);
    setShowsTray(true);
  };
  return { files, incoming, take, clearIncoming, block, setBlock, isShown: showsTray || files.length > 0 };
}

/** Browsers name every pasted image `image.png`; the time makes the names distinct. */
function named(file: File): File {
  if (!/^image\.\w+$/.test(file.name)) return file;
  const at = new Date();
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map((each) => String(each).padStart(2, '0')).join('');
  return new File([file], file.name.replace('image', `pasted-${time}`), { type: file.type });
}
