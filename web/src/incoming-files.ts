import { limits } from '@homeport/contracts/limits';

/** Dropped, pasted or chosen files; folders can't be attached and are only counted. */
export type IncomingFiles = { files: File[]; folders: number };

const sources = new WeakMap<File, string>();

/** Marks a file with an origin other than this device, which the prompt context names. */
export function markSource(file: File, source: string): File {
  sources.set(file, source.slice(0, limits.artifactSourceMax));
  return file;
}

export function sourceOf(file: File): string | undefined {
  return sources.get(file);
}

export function holdsFiles(data: DataTransfer | null): data is DataTransfer {
  return data?.types.includes('Files') === true;
}

export function droppedFiles(data: DataTransfer): IncomingFiles {
  const items = [...data.items].filter((item) => item.kind === 'file');
  const isFolder = (item: DataTransferItem) => item.webkitGetAsEntry()?.isDirectory === true;
  const files = items.filter((item) => !isFolder(item)).flatMap((item) => item.getAsFile() ?? []);
  return { files, folders: items.length - files.length };
}
