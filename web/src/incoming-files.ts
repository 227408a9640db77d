/** Files that somebody dropped, pasted or chose; folders cannot be attached and are only counted. */
export type IncomingFiles = { files: File[]; folders: number };

export function holdsFiles(data: DataTransfer | null): data is DataTransfer {
  return data?.types.includes('Files') === true;
}

export function droppedFiles(data: DataTransfer): IncomingFiles {
  const items = [...data.items].filter((item) => item.kind === 'file');
  const isFolder = (item: DataTransferItem) => item.webkitGetAsEntry()?.isDirectory === true;
  const files = items.filter((item) => !isFolder(item)).flatMap((item) => item.getAsFile() ?? []);
  return { files, folders: items.length - files.length };
}
