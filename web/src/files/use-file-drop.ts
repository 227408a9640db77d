import { type DragEvent, useState } from 'react';
import { useText } from '../i18n/i18n.ts';
import { droppedFiles, holdsFiles } from '../incoming-files.ts';

/** Drop zone for files. `problem` is a message after a drop of folders, which can't be uploaded. */
export function useFileDrop(onFiles: (files: File[]) => void, isEnabled = true) {
  const t = useText();
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<string>();
  const accepts = (event: DragEvent) => isEnabled && holdsFiles(event.dataTransfer);
  const zone = {
    'data-drop-zone': true,
    'data-over': isOver || undefined,
    onDragOver: (event: DragEvent) => {
      if (!accepts(event)) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: ({ relatedTarget, currentTarget }: DragEvent) => {
      if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOver(false);
    },
    onDrop: (event: DragEvent) => {
      if (!accepts(event)) return;
      event.preventDefault();
      event.stopPropagation();
      setOver(false);
      const { files, folders } = droppedFiles(event.dataTransfer);
      setProblem(folders > 0 ? t('files.noFolders', { count: folders }) : undefined);
      onFiles(files);
    },
  };
  return { isOver, problem, zone };
}
