import type { ChangedFile, TurnChanges } from '@homeport/contracts/workspace/daemon';
import { queryOptions } from '@tanstack/react-query';
import { call, fileAddress, readText } from '../../api/api.ts';
import { ApiFailure } from '../../api/api-failure.ts';

export type Side = 'before' | 'after';
export type Answer = { chatId: string; messageId: string };
export type Changes = TurnChanges;
export type ChangeRequest = { direction: 'undo' | 'redo'; paths?: string[] };

/** The workspace may change at any time, so the list is read each time it is opened. */
export function changesQuery(answer: Answer) {
  return queryOptions({
    queryKey: ['changes', answer.chatId, answer.messageId],
    queryFn: ({ signal }) => call('GET /api/chats/changes', { query: answer, signal }),
    staleTime: 0,
  });
}

/** The text of one side; empty where there is no file. */
export function versionQuery(answer: Answer, file: ChangedFile, side: Side) {
  const has = file[side]?.type === 'file';
  return queryOptions({
    queryKey: ['changes', answer.chatId, answer.messageId, file.path, side],
    queryFn: ({ signal }) =>
      has ? readText('GET /api/chats/changes/file', { ...answer, path: file.path, side }, signal) : '',
    staleTime: 60_000,
  });
}

export function versionAddress(answer: Answer, path: string, side: Side): string {
  return fileAddress('GET /api/chats/changes/file', { ...answer, path, side });
}

/** Undoes or redoes. With `conflicts`, files that were changed since, nothing was written. */
export async function changeWorkspace(
  answer: Answer,
  { direction, paths }: ChangeRequest,
  force: boolean,
): Promise<{ conflicts: string[]; skipped: string[]; changes?: Changes }> {
  const body = { ...answer, ...(paths === undefined ? {} : { paths }), ...(force ? { force } : {}) };
  try {
    const { skipped, ...changes } = await (direction === 'undo'
      ? call('POST /api/chats/changes/undo', { body })
      : call('POST /api/chats/changes/redo', { body }));
    return { conflicts: [], skipped: skipped.map(({ path }) => path), changes };
  } catch (error) {
    const conflicts = conflictsOf(error);
    if (conflicts.length === 0) throw error;
    return { conflicts, skipped: [] };
  }
}

function conflictsOf(error: unknown): string[] {
  if (!(error instanceof ApiFailure) || error.code !== 'files_changed') return [];
  const paths: unknown = Reflect.get(Object(error.details), 'paths');
  return Array.isArray(paths) ? paths.map(String) : [];
}

export function shortList(paths: readonly string[]): string {
  return [...paths.slice(0, 5), ...(paths.length > 5 ? ['…'] : [])].join(', ');
}
