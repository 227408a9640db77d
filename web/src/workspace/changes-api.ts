import type { ChangedFile } from '@homeport/contracts/daemon';
import { queryOptions } from '@tanstack/react-query';
import { call, fileAddress, readText } from '../api.ts';

export type Side = 'before' | 'after';
export type Answer = { chatId: string; messageId: string };

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
