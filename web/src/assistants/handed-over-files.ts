/** Files that were chosen before their assistant existed, until its page takes them to upload. */

const waiting = new Map<string, readonly File[]>();

/** Called when the assistant has been created. */
export function handOverFiles(assistantId: string, files: readonly File[]): void {
  if (files.length > 0) waiting.set(assistantId, files);
}

/** Returns the files once. */
export function takeFiles(assistantId: string): readonly File[] {
  const files = waiting.get(assistantId) ?? [];
  waiting.delete(assistantId);
  return files;
}
