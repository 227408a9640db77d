import { type DragEvent, useState } from 'react';

/** A drop target for one file. `isOver` while a file is held above it. */
export function useFileDrop(take: (file: File | undefined) => void) {
  const [isOver, setOver] = useState(false);
  return {
    isOver,
    handlers: {
      onDragOver: (event: DragEvent) => {
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        event.preventDefault();
        event.stopPropagation();
        setOver(false);
        take(event.dataTransfer.files[0]);
      },
    },
  };
}
